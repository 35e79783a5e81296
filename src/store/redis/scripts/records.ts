// Keyed records: a hash of values and a set in the order of keys for each kind.

export const records = String.raw`
local function takeRecords()
  local list = {}
  for i = 1, takeNumber() do
    list[i] = {
      kind = take(), key = take(), expected = take(), expire = take(), isRemoval = take() == '1',
      value = take(),
    }
  end
  return list
end

local RECORD = '^(%d+)%z(%-?%d*)%z'

-- Version and end of what is there; a record that has expired is not.
local function heldRecord(write, now)
  local text = call('HGET', P .. 'rec:' .. write.kind, write.key)
  if not text then return 0, '' end
  local version, expire = match(text, RECORD)
  if expire ~= '' and tonumber(expire) <= now then return 0, expire end
  return tonumber(version), expire
end

local function recordFits(write, now)
  if write.expected == '' then return true end
  return heldRecord(write, now) == tonumber(write.expected)
end

local function recordsFit(list, now)
  for _, write in ipairs(list) do
    if not recordFits(write, now) then return false end
  end
  return true
end

local function dropRecord(kind, key)
  call('HDEL', P .. 'rec:' .. kind, key)
  call('ZREM', P .. 'rk:' .. kind, key)
  call('ZREM', P .. 'rx', kind .. Z .. key)
end

local function putRecord(write, now)
  if write.isRemoval then return dropRecord(write.kind, write.key) end
  local version, expire = heldRecord(write, now)
  local text = int(version + 1) .. Z .. write.expire .. Z .. write.value
  call('HSET', P .. 'rec:' .. write.kind, write.key, text)
  call('ZADD', P .. 'rk:' .. write.kind, 0, write.key)
  call('SADD', P .. 'kinds', write.kind)
  local member = write.kind .. Z .. write.key
  if write.expire ~= '' then
    call('ZADD', P .. 'rx', write.expire, member)
  elseif expire ~= '' then
    call('ZREM', P .. 'rx', member)
  end
end

local function putRecords(list, now)
  for _, write in ipairs(list) do putRecord(write, now) end
end
`
