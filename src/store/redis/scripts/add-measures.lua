-- An attempt in place of the same one without measures, if nobody else wrote it meanwhile.

-- @include base

local field, before, after = take(), take(), take()
if call('HGET', key('attempts'), field) ~= before then return 0 end
call('HSET', key('attempts'), field, after)
return 1
