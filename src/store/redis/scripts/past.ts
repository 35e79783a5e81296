// Questions about history.

import { reading } from './reads.ts'

/** Attempts of one job by number: text after text. Begins with the job itself. */
export const pastScript = [
  reading,
  String.raw`
local seq = call('HGET', P .. 'ids', take())
if not seq then return {} end
local isNewest, mark, count = take() == '1', take(), take()
local key, list = P .. 'h:' .. seq, nil
if isNewest then
  list = call('ZREVRANGEBYSCORE', key, mark == '' and '+inf' or mark, '-inf', 'LIMIT', 0, count)
else
  list = call('ZRANGEBYSCORE', key, mark == '' and '-inf' or mark, '+inf', 'LIMIT', 0, count)
end
local skips, from = P .. 'sk:' .. seq, take()
local spans, most = {}, take()
if most ~= '0' and isNewest then
  spans = call('ZREVRANGEBYSCORE', skips, from == '' and '+inf' or from, '-inf',
    'WITHSCORES', 'LIMIT', 0, most)
elseif most ~= '0' then
  spans = call('ZRANGEBYSCORE', skips, from == '' and '-inf' or from, '+inf',
    'WITHSCORES', 'LIMIT', 0, most)
end
local reply = tell({ seq }, {})
return { reply, list, spans }
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
local rows, reply = fetch('HMGET', P .. 'jobs', seqs), { #list }
for i, member in ipairs(list) do
  local text = rows[i]
    and call('ZRANGEBYSCORE', P .. 'h:' .. seqs[i], numbers[i], numbers[i])[1]
  reply[#reply + 1] = member
  reply[#reply + 1] = text or ''
  reply[#reply + 1] = rows[i] or ''
end
return reply
`,
].join('\n')
