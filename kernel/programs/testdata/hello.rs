// Threads, maps, arguments and files, by the standard library.
use std::collections::HashMap;
use std::io::{Read, Seek, Write};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;

fn main() -> std::io::Result<()> {
    println!("arguments: {:?}", std::env::args().collect::<Vec<_>>());
    let total = Arc::new(Mutex::new(0u64));
    let (send, receive) = mpsc::channel();
    let threads: Vec<_> = (1..=4u64)
        .map(|i| {
            let (total, send) = (total.clone(), send.clone());
            thread::spawn(move || {
                let map: HashMap<u64, u64> = (0..1000).map(|k| (k, k * i)).collect();
                *total.lock().unwrap() += map.values().sum::<u64>();
                send.send(i).unwrap();
            })
        })
        .collect();
    for t in threads {
        t.join().unwrap();
    }
    drop(send);
    println!("total: {}, messages: {}", total.lock().unwrap(), receive.iter().sum::<u64>());
    let path = std::env::temp_dir().join("leveret-hello");
    let mut file = std::fs::File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
    file.write_all(b"a line\n")?;
    file.rewind()?;
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    std::fs::remove_file(&path)?;
    print!("from the file: {text}");
    std::panic::set_hook(Box::new(|_| ()));
    match std::panic::catch_unwind(|| if text.len() > 3 { panic!("on purpose") }) {
        Ok(()) => println!("no panic"),
        Err(_) => println!("a panic was caught"),
    }
    std::process::exit(4);
}
