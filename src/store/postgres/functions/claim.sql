-- Due and waiting to running, in one call. While everything due fits, it is simply taken; otherwise
-- tenants take turns, then the lanes of each, as core/fair says.

create function carillon.claim(
  p_queue text, p_handlers text[], p_now bigint, p_limit int, p_owner text, p_token text,
  p_lease bigint, p_attempts text, p_bite int, p_specs boolean, p_server boolean, p_crowd boolean
)
returns table (
  jobs text, moment bigint, ids json, kinds smallint[], created bigint[], serieses json,
  declareds json, specs text
)
language plpgsql as $$
#variable_conflict use_column
declare
  v_lines int[];
  v_tids tid[];
  v_cursor text;
  v_paused boolean;
  v_lanes text[];
  v_count int;
  v_depth int;
  v_total int;
  v_deep int;
  v_last text;
  v_seqs bigint[];
  v_gone bigint[];
  v_now bigint := case when p_server then least(p_now, floor(extract(epoch
      from clock_timestamp()) * 1000)::bigint) else p_now end;
  v_crowd boolean := p_crowd;
  v_attempts text[] := string_to_array(p_attempts, E'\x1f');
  v_tenant text;
  v_key text;
  v_only text collate "C";
  v_has_users boolean := false;
begin
  v_lines := array(select l.id from carillon.lines l
      where l.queue = p_queue and l.handler = any (p_handlers));
  if cardinality(v_lines) = 0 then
    return;
  end if;
  if not v_crowd then
    v_tids := array(select ctid from carillon.moments
        where what = 0 and line = any (v_lines)
            and at <= v_now limit p_limit + 1) || array(select ctid from carillon.moments
        where what = 1 and line = any (v_lines) and at <= v_now limit p_limit + 1);
    if cardinality(v_tids) = 0 then
      return;
    end if;
    select q.paused, q.cursor into v_paused, v_cursor from carillon.queues q
        where q.queue = p_queue;
    if v_paused then
      return;
    end if;
    v_cursor := coalesce(v_cursor, '');
  end if;
  if v_crowd or cardinality(v_tids) > p_limit then
    select q.paused, q.cursor into v_paused, v_cursor
      from carillon.queues q where q.queue = p_queue for update;
    if not found then
      insert into carillon.queues (queue) values (p_queue) on conflict do nothing;
      select q.paused, q.cursor into v_paused, v_cursor
        from carillon.queues q where q.queue = p_queue for update;
    end if;
    if v_paused then
      return;
    end if;
    v_cursor := split_part(v_cursor, '/', 1);
    v_tenant := v_cursor;
    v_key := p_queue || E'\n';
    v_tids := array(select found.tid from unnest(v_lines) l (line) cross join lateral (
          select m.ctid as tid, m.at, m.seq from carillon.moments m
          where m.what = 0 and m.line = l.line and m.at <= v_now
          order by m.at, m.seq limit p_bite) found order by found.at, found.seq limit p_bite);
    if cardinality(v_tids) > 0 then
      update carillon.moments set what = 1 where ctid = any (array(
            select ctid from carillon.moments where ctid = any (v_tids) and what = 0 and at <= v_now
            for update skip locked));
    end if;
    v_only := (select min(found.lane) from
        unnest(v_lines) l (line) cross join lateral (
          select m.lane from carillon.moments m
          where m.what = 1 and m.line = l.line and m.at <= v_now and true
          order by m.lane limit 1) found);
    if v_only is null then
      return;
    end if;
    v_only := split_part(v_only, '/', 1);
    if (select min(found.lane) from
        unnest(v_lines) l (line) cross join lateral (
          select m.lane from carillon.moments m
          where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane > v_only
              and m.lane < v_only || '/'
          order by m.lane limit 1) found) is not null
      or (select min(found.lane) from
        unnest(v_lines) l (line) cross join lateral (
          select m.lane from carillon.moments m
          where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane >= v_only || '0'
          order by m.lane limit 1) found) is not null then
      v_only := null;
    elsif (select min(found.lane) from
        unnest(v_lines) l (line) cross join lateral (
          select m.lane from carillon.moments m
          where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane >= v_only || '/'
              and m.lane < v_only || '0'
          order by m.lane limit 1) found) is not null then
      v_has_users := true;
      select r.p_lane into v_cursor from carillon.turn_at(v_key || E'\n' || v_only, v_now) r;
    end if;
    with recursive ring (lane, n) as (
        select (select min(found.lane) from
          unnest(v_lines) l (line) cross join lateral (
            select m.lane from carillon.moments m
            where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane > v_cursor
            order by m.lane limit 1) found), 1
        union all
        select (select min(found.lane) from
          unnest(v_lines) l (line) cross join lateral (
            select m.lane from carillon.moments m
            where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane > ring.lane
            order by m.lane limit 1) found), n + 1
        from ring where ring.lane is not null and n < p_limit
      ) select coalesce(array_agg(lane order by n), '{}') into v_lanes from ring
          where lane is not null;
    if cardinality(v_lanes) < p_limit then
      with recursive ring (lane, n) as (
          select (select min(found.lane) from
            unnest(v_lines) l (line) cross join lateral (
              select m.lane from carillon.moments m
              where m.what = 1 and m.line = l.line and m.at <= v_now and true
              order by m.lane limit 1) found), cardinality(v_lanes) + 1
          union all
          select (select min(found.lane) from
            unnest(v_lines) l (line) cross join lateral (
              select m.lane from carillon.moments m
              where m.what = 1 and m.line = l.line and m.at <= v_now and m.lane > ring.lane
              order by m.lane limit 1) found), n + 1
          from ring where ring.lane <= v_cursor and n < p_limit
        ) select v_lanes || coalesce(array_agg(lane order by n), '{}') into v_lanes
        from ring where lane <= v_cursor;
    end if;
    v_count := cardinality(v_lanes);
    if v_only is null and (v_count >= p_limit or exists (
          select 1 from unnest(v_lanes) l (lane) where position('/' in l.lane) > 0)) then
      if v_crowd and not exists (select 1 from carillon.moments m
          where m.what = 1 and m.line = any (v_lines) and m.at <= v_now offset p_limit) then
        v_tids := array(select ctid from carillon.moments
            where what = 0 and line = any (v_lines)
                and at <= v_now limit p_limit + 1) || array(select ctid from carillon.moments
            where what = 1 and line = any (v_lines) and at <= v_now limit p_limit + 1);
        select array_agg(o.tid), array_agg(o.seq) into v_tids, v_seqs from (select t.tid, t.seq
            from (
              select l.tid, l.seq, l.tenant,
              row_number() over (partition by l.tenant order by l.turn, l.lane) as place from (
                select m.ctid as tid, m.seq, m.lane, split_part(m.lane, '/', 1) as tenant,
                row_number() over (partition by m.lane order by m.rank, m.seq) as turn
                from carillon.moments m where m.ctid = any (v_tids)) l
            ) t order by t.place, t.tenant <= v_cursor, t.tenant) o;
      else
        select r.p_tids, r.p_last into v_tids, v_last from carillon.tenants_serve(
            v_key, v_lines, v_now, v_tenant, 1, p_limit, false, null, null, null) r;
        v_seqs := array(select m.seq from unnest(v_tids) with ordinality t (tid, n)
            join carillon.moments m on m.ctid = t.tid order by t.n);
        update carillon.queues set cursor = v_last where queue = p_queue and v_last <> v_tenant;
      end if;
    else
      if v_count = 1 and cardinality(v_lines) = 1 then
        select array_agg(o.ctid), array_agg(o.seq) into v_tids, v_seqs from (
            select m.ctid, m.seq from carillon.moments m
            where m.what = 1 and m.line = v_lines[1] and m.lane = v_lanes[1] and m.at <= v_now
            order by m.rank, m.seq limit p_limit + 1) o;
        v_last := v_lanes[1];
      else
        v_depth := (p_limit + v_count - 1) / v_count;
        loop
          with found as (
              select k.n, k.lane, c.tid, c.seq, row_number() over (partition by k.n
                  order by c.rank, c.seq) as turn
              from unnest(v_lanes) with ordinality k (lane, n) cross join lateral (
                select x.tid, x.rank, x.seq from unnest(v_lines) l (line) cross join lateral (
                  select m.ctid as tid, m.rank, m.seq from carillon.moments m
                  where m.what = 1 and m.line = l.line and m.lane = k.lane and m.at <= v_now
                  order by m.rank, m.seq limit v_depth) x
                order by x.rank, x.seq limit v_depth) c
            ), taken as (
              select tid, seq, lane, turn, n from found order by turn, n limit p_limit)
            select (select count(*) from found),
            (select count(*) from found where turn = v_depth),
            (select array_agg(tid order by turn, n) from taken),
            (select array_agg(seq order by turn, n) from taken),
            (select lane from taken order by turn desc, n desc limit 1)
            into v_total, v_deep, v_tids, v_seqs, v_last;
          exit when v_total >= p_limit or v_deep = 0;
          v_depth := v_depth + (p_limit - v_total + v_deep - 1) / v_deep;
        end loop;
      end if;
      if v_crowd then
        v_crowd := cardinality(v_tids) <= p_limit and not exists (select 1 from carillon.moments m
            where m.what = 1 and m.line = any (v_lines) and m.at <= v_now offset p_limit);
      end if;
      v_tids := v_tids[1 : p_limit];
      v_seqs := v_seqs[1 : p_limit];
      if v_crowd then
        v_cursor := v_tenant;
        v_tids := array(select ctid from carillon.moments
            where what = 0 and line = any (v_lines)
                and at <= v_now limit p_limit + 1) || array(select ctid from carillon.moments
            where what = 1 and line = any (v_lines) and at <= v_now limit p_limit + 1);
        select array_agg(o.tid), array_agg(o.seq) into v_tids, v_seqs from (select t.tid, t.seq
            from (
              select l.tid, l.seq, l.tenant,
              row_number() over (partition by l.tenant order by l.turn, l.lane) as place from (
                select m.ctid as tid, m.seq, m.lane, split_part(m.lane, '/', 1) as tenant,
                row_number() over (partition by m.lane order by m.rank, m.seq) as turn
                from carillon.moments m where m.ctid = any (v_tids)) l
            ) t order by t.place, t.tenant <= v_cursor, t.tenant) o;
      else
        if v_has_users then
          perform carillon.turn_keep(v_key || E'\n' || v_only, v_last, 1, v_now);
        end if;
        update carillon.queues set cursor = split_part(v_last, '/', 1)
          where queue = p_queue and cursor <> split_part(v_last, '/', 1);
      end if;
    end if;
  elsif cardinality(v_tids) > 1 then
    v_cursor := split_part(v_cursor, '/', 1);
    select array_agg(o.tid), array_agg(o.seq) into v_tids, v_seqs from (select t.tid, t.seq from (
          select l.tid, l.seq, l.tenant,
          row_number() over (partition by l.tenant order by l.turn, l.lane) as place from (
            select m.ctid as tid, m.seq, m.lane, split_part(m.lane, '/', 1) as tenant,
            row_number() over (partition by m.lane order by m.rank, m.seq) as turn
            from carillon.moments m where m.ctid = any (v_tids)) l
        ) t order by t.place, t.tenant <= v_cursor, t.tenant) o;
  end if;
  with ours as materialized (
      select m.ctid as tid from carillon.moments m
      where m.ctid = any (v_tids) and m.what < 2 and m.line = any (v_lines) and m.at <= v_now
      for update skip locked
    ), gone as (
      delete from carillon.moments m where m.ctid = any (array(select tid
          from ours)) returning m.seq
    ) select array_agg(seq) into v_gone from gone;
  if v_gone is null then
    return;
  end if;
  if cardinality(v_tids) = 1 then
    v_seqs := v_gone;
  elsif cardinality(v_gone) < cardinality(v_tids) then
    v_seqs := array(select o.seq from unnest(v_seqs) with ordinality o (seq, n)
        where o.seq = any (v_gone) order by o.n);
  end if;
  insert into carillon.leases as l values (p_token, v_now + p_lease, cardinality(v_seqs), v_seqs)
    on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
    open = l.open + excluded.open, seqs = l.seqs || excluded.seqs;
  if p_specs then
    return query with held as (
        update carillon.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
        fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
        attempt_id = v_attempts[i], claimed_at = v_now, until_at = v_now + p_lease
        from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
        returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
        j.id, j.series, j.kind, i as n
      ), moved as (
        insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
        array_agg(0), array_agg(1), array_agg(m.n)
        from (select share, count(*) as n from held group by share) m having count(*) > 0
      )
      select string_agg(
        concat_ws(',', h.n, h.seq, h.spec_at, h.attempts, h.fence, h.version, h.body), ','), v_now,
            to_json(array_agg(h.id)), array_agg(h.kind), array_agg(x.created_at),
      case when count(h.series) > 0 then to_json(array_agg(h.series)) end,
      case when count(x.declared) > 0 then to_json(array_agg(x.declared)) end,
      string_agg(coalesce(x.spec, ''), E'\x1f')
      from held h left join carillon.specs x on x.seq = h.seq and x.spec_at = h.spec_at;
  else
    return query with held as (
        update carillon.jobs j set state = 1, due_at = null, rank = null, attempts = j.attempts + 1,
        fence = j.fence + 1, version = j.version + 1, token = p_token, owner = p_owner,
        attempt_id = v_attempts[i], claimed_at = v_now, until_at = v_now + p_lease
        from generate_subscripts(v_seqs, 1) i where j.seq = v_seqs[i]
        returning j.seq, j.share, j.spec_at, j.expire_at, j.attempts, j.fence, j.version, j.body,
        j.id, j.series, j.kind, i as n
      ), moved as (
        insert into carillon.deltas select nextval('carillon.deltas_seq'), array_agg(m.share),
        array_agg(0), array_agg(1), array_agg(m.n)
        from (select share, count(*) as n from held group by share) m having count(*) > 0
      )
      select string_agg(
        concat_ws(',', h.n, h.seq, h.spec_at, h.attempts, h.fence, h.version, h.body), ','), v_now,
            null::json, null::smallint[], null::bigint[], null::json, null::json,
      null::text from held h;
  end if;
  perform carillon.fold();
end $$;
