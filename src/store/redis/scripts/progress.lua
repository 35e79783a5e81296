-- What the running attempt of a job reported.

-- @include base

local seq = call('HGET', key('ids'), take())
return seq and call('HGET', key('progress'), seq) or ''
