// The limit the store is measured against: claim, complete and history with minimal scripts, a hash
// per job and one set of due jobs, each batch one script, with the same durability.

import { createClient } from '@redis/client'

const claimLua = `
local due = redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - 1)
if #due == 0 then return due end
redis.call('ZREM', KEYS[1], unpack(due))
for _, id in ipairs(due) do
  local key = 'raw:job:' .. id
  redis.call('HSET', key, 'f', redis.call('HGET', key, 'v') .. ':' .. ARGV[2], 'until', ARGV[3])
end
return due`

const completeLua = `
local rows = {}
for i = 3, #ARGV do
  local key = 'raw:job:' .. ARGV[i]
  if redis.call('HGET', key, 'f') == ARGV[1] then
    redis.call('HSET', key, 'state', '2', 'v', '2', 'f', '')
    rows[#rows + 1] = ARGV[i] .. ARGV[2]
  end
end
redis.call('RPUSH', KEYS[2], unpack(rows))
return #rows`

const addLua = `
local due = {}
for i = 2, #ARGV do
  redis.call('HSET', 'raw:job:' .. ARGV[i], 'v', '1', 'state', '0', 'until', '')
  due[#due + 1] = ARGV[1] + i
  due[#due + 1] = ARGV[i]
end
redis.call('ZADD', KEYS[1], unpack(due))`

/** Rows per second of one pass over all rows, by so many loops beside each other. */
export async function rawCycle(
  url: string,
  rows: number,
  batch: number,
  loops = 1,
): Promise<number> {
  const client = createClient({ url, RESP: 2 })
  await client.connect()
  const load = async (lua: string) =>
    (await client.sendCommand(['SCRIPT', 'LOAD', lua])) as unknown as string
  const [add, claim, complete] = [await load(addLua), await load(claimLua), await load(completeLua)]
  await client.sendCommand(['FLUSHALL'])
  const run = async (sha: string, ...args: string[]): Promise<unknown> =>
    client.sendCommand(['EVALSHA', sha, '2', 'raw:due', 'raw:history', ...args])
  for (let i = 0; i < rows; i += 1_000) {
    const ids = Array.from({ length: 1_000 }, (_, j) => `0195c3d2-0000-7000-8000-${i + j}`)
    await run(add, String(1_000 + i), ...ids)
  }
  const from = performance.now()
  let claims = 0
  const loop = async () => {
    for (;;) {
      const token = `token-${++claims}`
      const ids = (await run(claim, String(batch), token, '2000')) as string[]
      if (ids.length === 0) return
      const count = await run(complete, `1:${token}`, ',1000,1001,0', ...ids)
      if (count !== ids.length) throw new Error('not completed')
    }
  }
  await Promise.all(Array.from({ length: loops }, loop))
  const ms = performance.now() - from
  await client.sendCommand(['FLUSHALL'])
  client.destroy()
  return Math.round((rows / ms) * 1_000)
}
