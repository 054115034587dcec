package redis

// The scripts, each of which writes only after its last check. A key has one writer at most that
// knows what is stored (Op.Known); those that count together do not know.
const (
	// operating writes a record and reads it back: {whether it was there, what is there}.
	operating = `
local there = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1])
return {there, redis.call('GET', KEYS[1])}`

	// countingOn adds one: {whether it was there, the count}.
	countingOn = `
local there = redis.call('EXISTS', KEYS[1])
return {there, redis.call('INCR', KEYS[1])}`

	// writingKnown writes ARGV[1] over a record of the writer ARGV[2] with a sequence from ARGV[3] to
	// ARGV[4], or, without those, where nothing is: {1, what is there, the sequence before} or {0, what
	// is there instead}.
	writingKnown = `
local old = redis.call('GET', KEYS[1])
local before = ''
if not ARGV[2] then
  if old then return {0, old} end
else
  local writer, seq = string.match(old or '', '^r(%Z*)%z(%d+)%z')
  seq = tonumber(seq)
  if not seq or writer ~= ARGV[2] or seq < tonumber(ARGV[3]) or seq > tonumber(ARGV[4]) then
    return {0, old}
  end
  before = string.format('%.0f', seq)
end
redis.call('SET', KEYS[1], ARGV[1])
return {1, redis.call('GET', KEYS[1]), before}`

	// countingKnown adds one to a counter from ARGV[1] to ARGV[2], or, without those, makes it, as
	// writingKnown does.
	countingKnown = `
local old = redis.call('GET', KEYS[1])
if not ARGV[1] then
  if old then return {0, old} end
else
  local count = string.match(old or '', '^%-?%d+$') and tonumber(old)
  if not count or count < tonumber(ARGV[1]) or count > tonumber(ARGV[2]) then return {0, old} end
end
return {1, tostring(redis.call('INCR', KEYS[1])), old or ''}`

	// changing changes the fields of a document. ARGV[1] is the step: 'insert' wants it missing,
	// 'update' wants it there, 'make' wants nothing. ARGV[2] pairs of a field and its new value follow,
	// then those of a field and what is added to it. It returns whether it was there, or -1 if that is
	// not as wanted.
	changing = `
local there = redis.call('EXISTS', KEYS[1])
if (ARGV[1] == 'insert' and there == 1) or (ARGV[1] == 'update' and there == 0) then return -1 end
local added = 3 + 2 * tonumber(ARGV[2])
for i = added, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
for i = 3, added - 1, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
return there`
)
