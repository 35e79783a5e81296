// Questions about history.

import { reading } from './reads.ts'

/**
 * Of one job: itself, attempts by number behind a mark, the number it was looked up to ('' at the
 * end), and skips by moment.
 */
export const pastScript = [
  reading,
  String.raw`
local seq = call('HGET', P .. 'ids', take())
if not seq then return {} end
local isNewest, mark, look = take() == '1', takeNumber(), takeNumber()
local reply = tell({ seq }, {})
local h = head(reply[2])
local low, high = tonumber(call('HGET', P .. 'lo', seq) or 1), tonumber(h.attempts)
if reply[3] ~= '' and leaseOf(reply[3]).flag == 'c' then high = high + 1 end
high = max(high, tonumber(call('HGET', P .. 'hi', seq) or 0))
local from, to, isEnd
if isNewest then
  from = mark and min(mark - 1, high) or high
  to = max(low, from - look + 1)
  isEnd = to <= low
else
  from = mark and max(mark + 1, low) or low
  to = min(high, from + look - 1)
  isEnd = to >= high
end
local names = {}
for number = from, to, isNewest and -1 or 1 do names[#names + 1] = seq .. ':' .. int(number) end
local list = {}
for _, text in ipairs(fetch('HMGET', P .. 'h', names)) do
  if text then list[#list + 1] = text end
end
local skips, moment, most = P .. 'sk:' .. seq, take(), take()
local spans = {}
if most ~= '0' and isNewest then
  spans = call('ZREVRANGEBYSCORE', skips, moment == '' and '+inf' or moment, '-inf',
    'LIMIT', 0, most)
elseif most ~= '0' then
  spans = call('ZRANGEBYSCORE', skips, moment == '' and '-inf' or moment, '+inf',
    'LIMIT', 0, most)
end
return { reply, list, isEnd and '' or int(to), spans }
`,
].join('\n')

/** Attempts of all jobs by id: index entry, text, row of the job. Ends with how far it came. */
export const pastOfAllScript = [
  reading,
  String.raw`
local isNewest, from, look = take() == '1', take(), take()
local list
if isNewest then
  list = call('ZREVRANGEBYLEX', P .. 'ah', from, '-', 'LIMIT', 0, look)
else
  list = call('ZRANGEBYLEX', P .. 'ah', from, '+', 'LIMIT', 0, look)
end
local seqs, numbers = {}, {}
for i, member in ipairs(list) do
  seqs[i], numbers[i] = match(member, '%z(%d+)%z(%d+)$')
end
local names = {}
for i = 1, #list do names[i] = seqs[i] .. ':' .. numbers[i] end
local rows, texts = fetch('HMGET', P .. 'jobs', seqs), fetch('HMGET', P .. 'h', names)
local reply = {}
for i, member in ipairs(list) do
  reply[#reply + 1] = member
  reply[#reply + 1] = texts[i] or ''
  reply[#reply + 1] = rows[i] or ''
end
return reply
`,
].join('\n')
