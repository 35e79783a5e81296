// What every script begins with: names of keys, numbers as text, commands with many values. A
// text in a row never holds NUL, so NUL parts its fields.

/** Values in one command: Lua hands them over on a stack that ends at 8,000. */
export const VALUES_MAX = 4_000

export const base = String.raw`
local call = redis.call
local P = string.sub(KEYS[1], 1, -5)
local Z = '\0'
local match, sub, format = string.match, string.sub, string.format
local find, gmatch = string.find, string.gmatch
local insert, concat, sort = table.insert, table.concat, table.sort
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
local MANY = ${VALUES_MAX}

local function int(n) return format('%.0f', n) end
local function pad(n) return format('%012.0f', n) end

local function serverNow()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end

-- One command for all values of the list, or as few as fit.
local function batch(command, key, list)
  local n = #list
  for i = 1, n, MANY do
    call(command, key, unpack(list, i, min(i + MANY - 1, n)))
  end
end

local function fetch(command, key, list)
  local n = #list
  if n == 0 then return {} end
  if n <= MANY then return call(command, key, unpack(list)) end
  local all = {}
  for i = 1, n, MANY do
    local part = call(command, key, unpack(list, i, min(i + MANY - 1, n)))
    for j = 1, #part do all[i + j - 1] = part[j] end
  end
  return all
end

local function push(lists, name, a, b)
  local list = lists[name]
  if list then
    list[#list + 1] = a
    list[#list + 1] = b
  else
    lists[name] = { a, b }
  end
end

-- Arguments one after another.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function takeNumber() return tonumber(take()) end

-- A row as row.ts writes it.
local HEAD = '^(%d+)%z(%d+)%z(%d)%z(%d)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z(.)'
  .. '%z(%-?%d*)%z(%-?%d*)%z(%-?%d*)%z(%-?%d*)%z(%d+)%z(%d+)%z(%d+)%z(%d+)%z%[(%d)'
-- What a damaged row counts as: a failed job of nobody, that stands nowhere.
local NO_HEAD = {
  version = '', fence = '0', state = '4', kind = '0', tenant = '', queue = '', handler = '',
  lane = '', place = '-', due = '', rank = '', held = '', expire = '', attempts = '0', keep = '0',
  specAt = '0', wait = '1',
}

local function head(row)
  local version, fence, state, kind, tenant, queue, handler, lane, place,
    due, rank, held, expire, attempts, keep, revision, specAt, wait = match(row or '', HEAD)
  if not version then return NO_HEAD end
  return {
    version = version, fence = fence, state = state, kind = kind, tenant = tenant,
    queue = queue, handler = handler, lane = lane, place = place, due = due, rank = rank,
    held = held, expire = expire, attempts = attempts, keep = keep, specAt = specAt, wait = wait,
  }
end

-- A lease as row.ts writes it. 'c': the row is still as it was before the claim.
local LEASE = '^(%d+)%z([^%z]*)%z(.)%z([^%z]*)%z([^%z]*)%z([^%z]*)%z(.*)$'
local function leaseOf(text)
  local version, token, flag, attempt, owner, claimed, till = match(text, LEASE)
  return {
    version = version, token = token, flag = flag, attempt = attempt, owner = owner,
    claimed = claimed, till = till,
  }
end

-- One record per claim, not per job: its end, its jobs, and how many of them are still held.
local function beginLease(token, till, seqs)
  local held = call('HGET', P .. 'held', token)
  call('ZADD', P .. 'claims', held and 'LT' or 'NX', till, token)
  call('HSET', P .. 'held', token, (held and held .. ',' or '') .. concat(seqs, ','))
  call('HINCRBY', P .. 'open', token, #seqs)
end

local function forgetClaim(token)
  call('HDEL', P .. 'open', token)
  call('HDEL', P .. 'held', token)
  call('ZREM', P .. 'claims', token)
end

local function endLease(token, count)
  if call('HINCRBY', P .. 'open', token, -count) <= 0 then forgetClaim(token) end
end
`
