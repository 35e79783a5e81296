-- Of one job: itself, attempts by number behind a mark, the number it was looked up to ('' at the
-- end), and skips by time.

-- @include attempts
-- @include replies

local seq = call('HGET', key('ids'), take())
if not seq then return {} end
local isNewest, mark, limit = takeFlag(), takeNumber(), takeNumber()
local reply = addJobs({}, { seq })
local low, high = numbersOf(seq, decodeRow(reply[2]), reply[3] ~= '' and decodeLease(reply[3]))
local from, to, isEnd
if isNewest then
  from = mark and min(mark - 1, high) or high
  to = max(low, from - limit + 1)
  isEnd = to <= low
else
  from = mark and max(mark + 1, low) or low
  to = min(high, from + limit - 1)
  isEnd = to >= high
end
local texts = {}
-- Beyond the end there is nothing, whichever way the numbers go.
if isNewest and from >= to or not isNewest and from <= to then
  for _, text in ipairs(attemptTexts(seq, from, to)) do
    if text then texts[#texts + 1] = text end
  end
end
local time, skipsMax, skips = take(), take(), {}
if skipsMax ~= '0' and isNewest then
  skips = call('ZREVRANGEBYSCORE', key(skipsKey(seq)), time == '' and '+inf' or time, '-inf',
    'LIMIT', 0, skipsMax)
elseif skipsMax ~= '0' then
  skips = call('ZRANGEBYSCORE', key(skipsKey(seq)), time == '' and '-inf' or time, '+inf',
    'LIMIT', 0, skipsMax)
end
return { reply, texts, isEnd and '' or int(to), skips }
