-- The first jobs of all tenants in their turns: serveTenants of core/turns. p_key names the turn of claims of
-- this scope; the turns of tenants are kept under it.

create function carillon.serve_tenants(
  p_key text, p_queue text, p_handlers text[], p_now bigint, p_lane text, p_taken int, p_limit int,
  p_most int, p_held jsonb, out p_seqs bigint[], out p_lanes text[], out p_last text,
  out p_last_taken int, out p_passed text
)
returns record
language plpgsql as $$
#variable_conflict use_column
declare
  v_names text[] := '{}';
  v_weights int[] := '{}';
  v_lefts int[] := '{}';
  v_given int[] := '{}';
  -- Each was met once: those with something left are served again.
  v_is_again boolean := false;
  v_some_open int[] := '{}';
  v_k int := 0;
  v_at text := p_lane;
  v_found text collate "C";
  v_weight int;
  v_open int;
  v_start boolean := true;
  v_wrapped boolean := false;
  v_is_going boolean := false;
  v_i int;
  v_n int;
  v_before int;
  v_quota int;
  v_wanted int;
  v_idle int := 0;
  v_total int := 0;
  v_asked int[] := '{}';
  v_counts int[] := '{}';
  v_some bigint[];
  v_lanes text[];
  v_takens int[];
  v_rounds int[] := '{}';
  v_places int[] := '{}';
  v_inner text;
  v_inner_taken int;
  v_turn_lane text;
  v_turn_taken int;
begin
  p_seqs := '{}';
  p_lanes := '{}';
  p_last := p_lane;
  p_last_taken := p_taken;
  loop
    exit when v_total >= p_limit;
    if v_is_again then
      v_k := v_k + 1;
      if v_k > cardinality(v_some_open) then
        v_some_open := array(select i from unnest(v_lefts) with ordinality o (n, i) where n > 0
            order by i);
        exit when cardinality(v_some_open) = 0;
        v_k := 1;
      end if;
      v_i := v_some_open[v_k];
      v_before := 0;
      v_quota := case when cardinality(v_some_open) = 1 then p_limit else v_weights[v_i] end;
    else
      v_before := 0;
      v_found := null;
      if v_start and p_taken > 0 and carillon.next_tenant(p_queue, p_handlers, p_now, p_lane, false) = p_lane then
        v_found := p_lane;
        select r.p_weight, r.p_open into v_weight, v_open
          from carillon.tenant_room(v_found, p_now, p_most, p_held) r;
        v_is_going := v_weight > p_taken;
      end if;
      if v_start and v_is_going then
        v_before := p_taken;
      else
        v_found := carillon.next_tenant(p_queue, p_handlers, p_now, v_at, true);
        if v_found is null and not v_wrapped then
          v_wrapped := true;
          v_found := carillon.next_tenant(p_queue, p_handlers, p_now, '', false);
        end if;
        if v_found is null
          or v_wrapped and (v_found > p_lane collate "C" or v_is_going and v_found = p_lane) then
          v_is_again := true;
          continue;
        end if;
        select r.p_weight, r.p_open into v_weight, v_open
          from carillon.tenant_room(v_found, p_now, p_most, p_held) r;
      end if;
      v_start := false;
      v_at := v_found;
      v_names := v_names || v_found::text;
      v_weights := v_weights || v_weight;
      v_lefts := v_lefts || v_open;
      v_given := v_given || 0;
      v_i := cardinality(v_names);
      v_quota := v_weight - v_before;
    end if;
    v_wanted := least(v_quota, v_lefts[v_i], p_limit - v_total);
    v_n := 0;
    if v_wanted > 0 then
      if coalesce(v_asked[v_i], 0) < v_given[v_i] + v_wanted then
        v_asked[v_i] := case when v_asked[v_i] is null then v_wanted else least(p_limit, greatest(
              v_given[v_i] + v_wanted, 2 * v_asked[v_i],
              v_given[v_i] + (p_limit - v_total + cardinality(v_names) - 1) / cardinality(v_names))) end;
        select r.p_lane, r.p_taken into v_turn_lane, v_turn_taken
          from carillon.turn_at(p_key || E'\n' || v_names[v_i], p_now) r;
        select cardinality(r.p_seqs) into v_n from carillon.serve_lanes(p_queue, p_handlers, p_now,
            array[v_names[v_i], v_names[v_i] || '/'], array[v_names[v_i] || E'\x01',
                v_names[v_i] || '0'],
            v_turn_lane, v_turn_taken, v_asked[v_i]) r;
        v_counts[v_i] := v_n;
      end if;
      v_n := least(v_wanted, v_counts[v_i] - v_given[v_i]);
      v_lefts[v_i] := case when v_n < v_wanted then 0 else v_lefts[v_i] - v_n end;
      if v_n > 0 then
        v_given[v_i] := v_given[v_i] + v_n;
        v_total := v_total + v_n;
        p_last := v_names[v_i];
        p_last_taken := v_before + v_n;
      end if;
    end if;
    if not v_is_again then
      v_idle := case when v_n > 0 then 0 else v_idle + 1 end;
      if v_idle >= 1000 then
        p_passed := v_found;
        v_is_again := true;
      end if;
    end if;
  end loop;
  if p_passed is not null then
    p_last := p_passed;
    p_last_taken := 100;
  end if;
  for v_i in 1 .. cardinality(v_names) loop
    continue when v_asked[v_i] is null;
    select r.p_lane, r.p_taken into v_turn_lane, v_turn_taken
      from carillon.turn_at(p_key || E'\n' || v_names[v_i], p_now) r;
    v_n := v_given[v_i];
    select r.p_seqs, r.p_lanes, r.p_takens, r.p_last, r.p_last_taken
      into v_some, v_lanes, v_takens, v_inner, v_inner_taken
      from carillon.serve_lanes(p_queue, p_handlers, p_now,
        array[v_names[v_i], v_names[v_i] || '/'], array[v_names[v_i] || E'\x01',
            v_names[v_i] || '0'],
        v_turn_lane, v_turn_taken, least(v_n + 1, v_asked[v_i])) r;
    if cardinality(v_some) > v_n then
      v_inner := v_lanes[v_n];
      v_inner_taken := v_takens[v_n];
    end if;
    v_before := case when v_is_going and v_i = 1 then p_taken else 0 end;
    p_seqs := p_seqs || v_some[1 : v_n];
    p_lanes := p_lanes || v_lanes[1 : v_n];
    v_rounds := v_rounds || array(
        select (n - 1 + v_before) / v_weights[v_i] from generate_series(1, v_n) n);
    v_places := v_places || array_fill(v_i, array[v_n]);
    if carillon.next_lane(p_queue, p_handlers, p_now, array[v_names[v_i] || '/'], array[v_names[v_i] || '0'],
        v_names[v_i] || '/', false) is not null then
      perform carillon.keep_turn(p_key || E'\n' || v_names[v_i], v_inner,
          v_inner_taken, p_now);
    end if;
  end loop;
  select coalesce(array_agg(o.seq order by o.round, o.place, o.n), '{}'),
    coalesce(array_agg(o.lane order by o.round, o.place, o.n), '{}')
    into p_seqs, p_lanes
    from unnest(p_seqs, p_lanes, v_rounds, v_places) with ordinality o (seq, lane, round, place, n);
end $$;
