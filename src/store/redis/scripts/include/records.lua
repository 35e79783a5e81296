-- Keyed records: a hash of values and a set in the order of keys for each kind.

-- @include codec

local function takeRecords()
  local list = {}
  for i = 1, takeNumber() do
    list[i] = {
      kind = take(), key = take(), expected = takeNumber(), expire = take(), isRemoval = takeFlag(),
      value = take(),
    }
  end
  return list
end

local function recordsKey(kind) return 'records:' .. kind end
local function recordNamesKey(kind) return 'records-by-key:' .. kind end
local EXPIRING = 'records-by-expiry'

-- Version and end of what is there; a record that has expired is not.
local function storedRecord(write, now)
  local record = decodeRecord(call('HGET', key(recordsKey(write.kind)), write.key))
  if not record then return 0, false end
  if record.expire and record.expire <= now then return 0, record.expire end
  return record.version, record.expire
end

local function recordFits(write, now)
  return not write.expected or storedRecord(write, now) == write.expected
end

local function recordsFit(list, now)
  for _, write in ipairs(list) do
    if not recordFits(write, now) then return false end
  end
  return true
end

local function dropRecord(kind, name)
  call('HDEL', key(recordsKey(kind)), name)
  call('ZREM', key(recordNamesKey(kind)), name)
  call('ZREM', key(EXPIRING), kind .. NUL .. name)
  if call('EXISTS', key(recordsKey(kind))) == 0 then call('SREM', key('record-kinds'), kind) end
end

local function storeRecord(kind, name, expire, text)
  call('HSET', key(recordsKey(kind)), name, text)
  call('ZADD', key(recordNamesKey(kind)), 0, name)
  call('SADD', key('record-kinds'), kind)
  if expire ~= '' then call('ZADD', key(EXPIRING), expire, kind .. NUL .. name) end
end

local function putRecord(write, now)
  if write.isRemoval then return dropRecord(write.kind, write.key) end
  local version, expire = storedRecord(write, now)
  local ending = write.expire == '' and 'false' or write.expire
  local text = '[' .. int(version + 1) .. ',' .. ending .. ']\n' .. write.value
  storeRecord(write.kind, write.key, write.expire, text)
  if expire and write.expire == '' then
    call('ZREM', key(EXPIRING), write.kind .. NUL .. write.key)
  end
end

local function putRecords(list, now)
  for _, write in ipairs(list) do putRecord(write, now) end
end
