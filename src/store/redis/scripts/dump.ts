// Everything that is kept, for those parts no other question is asked about.

import { reading } from './reads.ts'

/** Skips of all jobs by their end, from a place on: number of the job, end, text. */
export const skipsScript = [
  reading,
  String.raw`
local from, look = takeNumber(), takeNumber()
local list, reply = call('ZRANGE', P .. 'sx', from, from + look - 1, 'WITHSCORES'), {}
for i = 1, #list, 2 do
  local seq, first = match(list[i], '^(%d+)%z(%-?%d+)$')
  reply[#reply + 1] = seq
  reply[#reply + 1] = list[i + 1]
  reply[#reply + 1] = call('ZRANGEBYSCORE', P .. 'sk:' .. seq, first, first)[1] or ''
end
return reply
`,
].join('\n')

const walking = String.raw`
local mark, look = take(), take()
local jobs = call('ZRANGEBYSCORE', P .. 'all', mark == '' and '-inf' or mark, '+inf', 'LIMIT', 0, look)
`

/** Of so many jobs behind the mark those that have progress; begins with how far it came. */
export const progressScript = [
  reading,
  String.raw`
if call('EXISTS', P .. 'progress') == 0 then return { '' } end
`,
  walking,
  String.raw`
local texts, reply = fetch('HMGET', P .. 'progress', jobs), {}
reply[1] = #jobs == tonumber(look) and jobs[#jobs] or ''
for i, seq in ipairs(jobs) do
  if texts[i] then
    reply[#reply + 1] = seq
    reply[#reply + 1] = texts[i]
  end
end
return reply
`,
].join('\n')

/** Of so many jobs from the mark on those whose attempts have logs, with these attempts. */
export const loggedScript = [
  reading,
  walking,
  String.raw`
local reply = { #jobs == tonumber(look) and jobs[#jobs] or '' }
for _, seq in ipairs(jobs) do
  local attempts = call('SMEMBERS', P .. 'lg:' .. seq)
  if #attempts > 0 then reply[#reply + 1] = { seq, attempts } end
end
return reply
`,
].join('\n')

/** Tenants by name with what was pruned of theirs. */
export const prunedScript = [
  reading,
  String.raw`
local from, look = take(), take()
local reply = {}
for i, tenant in ipairs(call('ZRANGEBYLEX', P .. 'tps', from, '+', 'LIMIT', 0, look)) do
  reply[i] = { tenant, call('HGETALL', P .. 'tp:' .. tenant) }
end
return reply
`,
].join('\n')
