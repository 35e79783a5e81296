-- What is due and ready, in the turns of core/fair: tenants from behind the cursor, one job each, and so
-- the lanes of each tenant from behind the one kept in its record. At most p_want rows, none locked. p_most
-- is what a tenant may hold at most, p_held what it holds already.

create function carillon.turns(
  p_queue text, p_handlers text[], p_now bigint, p_want int, p_cursor text,
  p_most int, p_held jsonb
)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_names text[];
  v_opens int[];
  v_cursors text[];
  v_depth int;
  v_spread int := 1;
  v_total int;
  v_deep int;
  v_is_short boolean;
  v_seqs bigint[];
begin
  v_names := carillon.tenants_due(p_queue, p_handlers, p_now, p_want, p_cursor);
  select array_agg(o.name order by o.n), array_agg(o.open order by o.n),
      array_agg(coalesce(r.value::json ->> 'lane', '') order by o.n)
    into v_names, v_opens, v_cursors
    from (
      select t.name, t.n, case when p_most is null then p_want
          else least(p_want, p_most - coalesce((p_held ->> t.name)::int, 0)) end as open
        from unnest(v_names) with ordinality t (name, n)
    ) o left join carillon.records r on r.kind = 'turn' and r.key = p_queue || E'\n\n' || o.name
        and (r.expire_at is null or r.expire_at > p_now)
    where o.open > 0;
  if v_names is null then
    return '{}';
  end if;
  v_depth := (p_want + cardinality(v_names) - 1) / cardinality(v_names);
  loop
    with recursive tenants as materialized (
      select t.n, t.name, t.after, least(v_depth, t.open) as depth, t.open
        from unnest(v_names, v_opens, v_cursors) with ordinality t (name, open, after, n)
    ), spans (n, depth, from_lane, until_lane, is_behind) as (
      select t.n, t.depth, case when t.after > (t.name || '/') collate "C" then t.after || E'\x01'
          else t.name || '/' end, t.name || '0', false
        from tenants t
      union all
      select t.n, t.depth, t.name || '/', t.after || E'\x01', true
        from tenants t where t.after > (t.name || '/') collate "C"
    ), users (n, depth, until_lane, is_behind, lane, k) as (
      select s.n, s.depth, s.until_lane, s.is_behind, x.lane, 1
        from spans s cross join lateral (
          select (select m.lane from carillon.job_states m
              where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
                and array_position(p_handlers, m.handler) is not null
                and m.lane >= s.from_lane and m.lane < s.until_lane
              order by m.lane limit 1) as lane) x
      union all
      select u.n, u.depth, u.until_lane, u.is_behind, x.lane, u.k + 1
        from users u cross join lateral (
          select (select m.lane from carillon.job_states m
              where m.ready = 1 and m.queue = p_queue and m.due_at <= p_now
                and array_position(p_handlers, m.handler) is not null
                and m.lane >= u.lane || E'\x01' and m.lane < u.until_lane
              order by m.lane limit 1) as lane) x
        where u.lane is not null and u.k < u.depth
    ), lanes as materialized (
      select o.n, o.lane, o.depth,
          row_number() over (partition by o.n order by o.is_behind, o.lane collate "C") as k,
          least(o.depth, count(*) over (partition by o.n)) as lanes
        from (
          select u.n, u.lane, u.depth, u.is_behind from users u where u.lane is not null
          union all
          select t.n, t.name, t.depth, t.after <> '' from tenants t
            where (select 1 from carillon.job_states m
              where m.ready = 1 and m.queue = p_queue and m.lane = t.name and m.due_at <= p_now
                and array_position(p_handlers, m.handler) is not null limit 1) is not null
        ) o
    ), found as (
      select l.n, l.k, l.depth, c.seq, s.deep,
          row_number() over (partition by l.n, l.k order by c.rank, c.seq) as turn
        from lanes l
        cross join lateral (
          select least(l.depth, (l.depth + l.lanes - 1) / l.lanes * v_spread)::int as deep) s
        cross join lateral (
          select m.rank, m.seq from carillon.job_states m
            where m.ready = 1 and m.queue = p_queue and m.lane = l.lane and m.due_at <= p_now
              and array_position(p_handlers, m.handler) is not null
            order by m.rank, m.seq limit s.deep) c
        where l.k <= l.depth
    ), placed as materialized (
      select f.n, f.depth, f.seq, f.turn = f.deep and f.deep < f.depth as is_cut,
          row_number() over (partition by f.n order by f.turn, f.k) as place
        from found f
    ), counted as (
      select p.n, min(p.depth) as depth, least(count(*), min(p.depth)) as count,
          count(*) < min(p.depth) and bool_or(p.is_cut) as is_short
        from placed p group by p.n
    )
    select coalesce(sum(c.count), 0), count(*) filter (where c.count = v_depth and t.open > v_depth),
        coalesce(bool_or(c.is_short), false),
        array(select p.seq from placed p where p.place <= p.depth order by p.place, p.n limit p_want)
      into v_total, v_deep, v_is_short, v_seqs
      from counted c join tenants t on t.n = c.n;
    if v_is_short then
      v_spread := v_spread * 4;
    elsif v_total >= p_want or v_deep = 0 then
      return v_seqs;
    else
      v_depth := v_depth + (p_want - v_total + v_deep - 1) / v_deep;
    end if;
  end loop;
end $$;
