-- What every script begins with: names of keys, commands with many values, gathered writes, and
-- the arguments. No stored name holds NUL, so NUL separates the parts of a name.

local call = redis.call
local PREFIX = string.sub(KEYS[1], 1, -5)
local NUL = '\0'
local match, sub, find, gmatch = string.match, string.sub, string.find, string.gmatch
local insert, concat, sort = table.insert, table.concat, table.sort
local floor, ceil, min, max = math.floor, math.ceil, math.min, math.max
-- Values in one command: Lua hands them over on a stack that ends at 8,000.
local VALUES_MAX = 4000

local function key(name) return PREFIX .. name end

local function int(n) return string.format('%.0f', n) end

-- The number of a job, in one width: texts and numbers order alike.
local function sequenceText(n) return string.format('%012.0f', n) end
local function nextSequence() return sequenceText(call('INCR', key('sequence'))) end

local function serverNow()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + floor(tonumber(time[2]) / 1000)
end

-- The order of entries by time, then by number. Numbers of one width compare as texts alike in every
-- locale.
local function isEarlier(a, b)
  if a.time ~= b.time then return a.time < b.time end
  return a.seq < b.seq
end

-- One command for all values of the list, or as few as fit.
local function batch(command, name, list)
  local n = #list
  for i = 1, n, VALUES_MAX do
    call(command, key(name), unpack(list, i, min(i + VALUES_MAX - 1, n)))
  end
end

local function fetch(command, name, list)
  local n = #list
  if n == 0 then return {} end
  if n <= VALUES_MAX then return call(command, key(name), unpack(list)) end
  local all = {}
  for i = 1, n, VALUES_MAX do
    local part = call(command, key(name), unpack(list, i, min(i + VALUES_MAX - 1, n)))
    for j = 1, #part do all[i + j - 1] = part[j] end
  end
  return all
end

local function tableIn(parent, name)
  local child = parent[name]
  if not child then
    child = {}
    parent[name] = child
  end
  return child
end

local function push(lists, name, a, b)
  local list = lists[name]
  if not list then
    list = {}
    lists[name] = list
  end
  local n = #list
  list[n + 1] = a
  if b then list[n + 2] = b end
end

-- Writes gathered by key. Removals are made first, so what is removed and added stays added.
local gathered = { ZREM = {}, HDEL = {}, HSET = {}, ZADD = {} }
local function zrem(name, member) push(gathered.ZREM, name, member) end
local function hdel(name, field) push(gathered.HDEL, name, field) end
local function hset(name, field, value) push(gathered.HSET, name, field, value) end
local function zadd(name, score, member) push(gathered.ZADD, name, score, member) end

local function flushWrites()
  for _, command in ipairs({ 'ZREM', 'HDEL', 'HSET', 'ZADD' }) do
    for name, list in pairs(gathered[command]) do batch(command, name, list) end
    gathered[command] = {}
  end
end

-- Arguments one after another.
local at = 0
local function take()
  at = at + 1
  return ARGV[at]
end
local function takeNumber() return tonumber(take()) end
local function takeFlag() return take() == '1' end
local function takeRest()
  local rest = {}
  while at < #ARGV do rest[#rest + 1] = take() end
  return rest
end
