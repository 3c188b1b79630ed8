package tasks

import "strings"

// words are for names and texts.
var words = strings.Fields(`
able about above account across action active actor address afternoon again age agent air alarm album all alpha amount anchor angle animal answer ant apple april area arm army arrow art ask august aunt author autumn baby back backup bad bag ball band bank bar base basic basket battery beach bean bear beauty bed bee begin bell belt bench best beta better bicycle big bill bird birthday black blank blood blue board boat body bone book boot border bottle bottom bowl box boy branch brass brave bread break breakfast bridge bright brother brown brush bucket budget bug build bus business busy button buy cache cake call camera camp candle capital car card care cargo carpet carrot case castle cat cause cell center chain chair chance change chapter charge chart cheap check cheese chicken child choice circle city class clean clear client clock close cloth cloud club coast coat code coffee coin cold color column comment common company config contact cook cool copy corn corner correct cost cotton count country course cover cow credit crop cross crowd cup customer daily dance danger dark data date daughter day deal debug december deep deer default degree delay delta demo desert design desk detail device diary dinner direct dirt doctor dog dollar door double down draft dragon draw dream dress drink drive drop dry duck dust duty eagle early earth east easy edge egg eight empty energy engine english enjoy entry error evening event every exam example exit expert express eye face fact factory fair fall family famous farm fast father favorite feather february feed feel fence fever field fight figure film final finger finish fire first fish five flag flat flight floor flour flower fly fog follow food foot forest forget fork form forward four fox frame free fresh friday friend frog front fruit full fun funny future galaxy game garden gate gear general ghost gift girl give glad glass goal goat gold good grain grand grape grass gray great green grocery ground group grow guard guest guide guitar hair half hall hammer hand happy harbor hard harvest hat head health heart heat heavy height hello help hen hero hidden high hill history hobby hold hole holiday home honest honey hook hope horse hospital hot hotel hour house human hundred hunt ice idea image inbox index info input insect invoice iron island item jacket january jazz job join joke journal journey juice july jump june jungle junior keep kettle key kid kind king kitchen kite knee knife lab ladder lake lamp land language laptop large last late laugh law leader leaf learn leather left leg lemon letter level library life light lily limit line lion list little local log logo long look loop lost love low luck lunch machine magic mail main manager map march market mask master match may meadow meal meat media medicine meeting melody member memo memory menu message metal meter middle milk mill mind mine mint minute mirror mission mist model modern moment monday money monkey month moon morning mother motor mountain mouse mouth move movie much mud museum music nail name narrow nature near neck needle neighbor nest net never new news night nine noise noon north nose note nothing notice november number nurse oak ocean october office oil old olive one onion online open option orange orbit order organ other outer output oven owl owner page paint pair palace panda paper parent park part party passage past path patient pattern peace pear pen pencil people pepper perfect person phone photo piano picture piece pig pilot pin pine pink pipe pirate pizza place plain plan planet plant plastic plate play player please pocket poem point polite pond pool poor port post pot potato powder power present price prince print prize problem profile program project proof public pump pupil purple push puzzle quarter queen question quick quiet rabbit race radio rail rain random range rapid rate raw ready real reason recipe record red release remote rent repair reply report rest result rice rich right ring river road robot rock rocket roof room root rope rose rough round route row royal rubber rule run sad safe sail salad salt same sample sand saturday sauce save scale scene school science score screen script sea search season seat second secret section seed select senior sensor september serious server service seven shadow shape share sharp sheep sheet shelf shell ship shirt shoe shop short shoulder show side signal silent silk silver simple singer sister six size skill skin sky sleep slow small smart smile smoke snake snow soap sock soft soil soldier solid song soon sound soup source south space spark speed spider spoon sport spring square stable staff stage stamp star start state station status steam steel step stick still stone stop store storm story street string strong student studio style subject sudden sugar summary summer sun sunday supper surface sweet swim switch system table tail talk tall tank tape target task taste tax tea teacher team temp temple ten tennis term test text thank theater theme thick thin thing third three thunder thursday ticket tiger tile time tiny title toast today toe token tomato tomorrow tool tooth top topic total touch tower town toy track trade traffic train travel tree trial trip truck true trust tuesday tunnel turn turtle twelve twenty two type uncle under unit update upload upper user valley value van vector vendor version video view village violet violin visit voice vote wagon wait walk wall warm wash watch water wave way weather web wednesday week weight west wet wheel white wide wild wind window wine winter wire wise wolf woman wonder wood wool word work worker world worm wrong yard year yellow yesterday young zebra zero zone
`)

// little words make sentences out of words.
var little = strings.Fields(`the a an is are was were in on at of to for with and or but not my your our his her its this that these from by as it we they you he she has have had will can must should do does did no yes very too so if when then there here all some any more most`)

var (
	onsets = strings.Fields(`b bl br c ch cl cr d dr f fl fr g gl gr h j k kl kn l m n p pl pr ph qu r s sc sh sk sl sm sn sp st str sw t th tr tw v w wh x y z`)
	vowels = strings.Fields(`a e i o u a e i o u y ai au ea ee ei ie io oa oo ou ue`)
	codas  = strings.Fields(`b c ck ct d ff ft g k l ll lt m mp n nd ng nt p r rd rk rn rt s sh ss st t th x z`)
)

// syllables makes a word that is none.
func (r random) syllables() string {
	var b strings.Builder
	n := pick(r, 1, 2, 2, 2, 3)
	for i := range n {
		if i > 0 || r.chance(0.9) {
			b.WriteString(pick(r, onsets...))
		}
		b.WriteString(pick(r, vowels...))
		if i == n-1 && r.chance(0.6) || r.chance(0.2) {
			b.WriteString(pick(r, codas...))
		}
	}
	return b.String()
}

// letters makes a word of any letters.
func (r random) letters(lo, hi int) string {
	b := make([]byte, r.between(lo, hi))
	for i := range b {
		b[i] = byte('a' + r.IntN(26))
	}
	return string(b)
}
