-- 1 where an attempt does not expire in the order of the ids: kept for other than 30 days, or ended more
-- than an hour after it was claimed. Whatever the default of the retention is, those are indexed.

create function carillon.odd_expiry(p_expire_at bigint, p_finished bigint, p_claimed bigint)
returns smallint
language sql immutable as $$
  select case when p_expire_at - p_finished <> 2592000000 or p_finished - p_claimed > 3600000
    then 1::smallint end
$$;
