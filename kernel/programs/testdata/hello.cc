// Exceptions through frames and threads, maps, streams and destructors.
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int alive;
static std::mutex lock;

struct Counted {
	Counted() { std::lock_guard<std::mutex> l(lock); alive++; }
	~Counted() { std::lock_guard<std::mutex> l(lock); alive--; }
};

static int deep(int n)
{
	auto c = std::make_unique<Counted>();
	if (n == 0)
		throw std::out_of_range("the bottom");
	return deep(n - 1) + 1;
}

static int caught()
{
	int n = 0;
	for (int i = 0; i < 50; i++) {
		try {
			deep(i);
		} catch (const std::logic_error &) {
			n++;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		std::cout << "argument " << i << ": " << argv[i] << '\n';
	std::vector<std::thread> threads;
	std::map<std::string, int> results;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([i, &results] {
			int n = caught();
			std::ostringstream name;
			name << "thread " << i;
			std::lock_guard<std::mutex> l(lock);
			results[name.str()] = n;
		});
	for (auto &t : threads)
		t.join();
	for (auto &r : results)
		std::cout << r.first << " caught " << r.second << '\n';
	auto f = std::async(std::launch::async, []() -> int { throw std::runtime_error("from a thread"); });
	try {
		f.get();
	} catch (const std::exception &e) {
		std::cout << "an exception " << e.what() << '\n';
	}
	try {
		std::vector<char>().reserve(static_cast<std::size_t>(-1));
	} catch (const std::length_error &) {
		std::cout << "too long\n";
	}
	std::cout << "left: " << alive << std::endl;
	return 5;
}
