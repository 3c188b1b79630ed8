// Package civil turns a calendar's date into a number of seconds.
package civil

// Unix returns the seconds since 1970 of a date of the Gregorian calendar in
// UTC, from 1970 on: month and day count from 1. What is out of range gives 0.
func Unix(year, month, day, hour, minute, second uint64) uint64 {
	if year < 1970 || year > 9999 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return 0
	}
	// Years begin in March, so that the leap day is a year's last.
	y, m := year, month-3
	if month < 3 {
		y, m = year-1, month+9
	}
	const before1970 = 719468 // days from March of year 0 to 1970
	days := y*365 + y/4 - y/100 + y/400 + (m*153+2)/5 + day - 1 - before1970
	return ((days*24+hour)*60+minute)*60 + second
}
