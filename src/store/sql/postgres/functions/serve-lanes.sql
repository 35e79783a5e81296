-- The first jobs of the given lanes in their turns, with the turn behind each: serveRing of core/turns.

create function carillon.serve_lanes(
  p_queue text, p_handlers text[], p_now bigint, p_from text[], p_until text[], p_lane text,
  p_taken int, p_limit int, out p_seqs bigint[], out p_lanes text[], out p_takens int[],
  out p_last text, out p_last_taken int, out p_passed text
)
returns record
language plpgsql as $$
#variable_conflict use_column
declare
  v_names text[] := '{}';
  v_weights int[] := '{}';
  v_lefts int[] := '{}';
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
  v_some bigint[];
  v_rank bigint;
  v_seq bigint;
  v_ranks bigint[] := '{}';
  v_lasts bigint[] := '{}';
begin
  p_seqs := '{}';
  p_lanes := '{}';
  p_takens := '{}';
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
      if v_start and p_taken > 0 and carillon.next_lane(p_queue, p_handlers, p_now, p_from, p_until, p_lane,
          false) = p_lane then
        v_found := p_lane;
        select r.p_weight, r.p_open into v_weight, v_open
          from carillon.lane_room(v_found, p_now, position('/' in v_found) = 0) r;
        v_is_going := v_weight > p_taken;
      end if;
      if v_start and v_is_going then
        v_before := p_taken;
      else
        v_found := carillon.next_lane(p_queue, p_handlers, p_now, p_from, p_until, v_at, true);
        if v_found is null and not v_wrapped then
          v_wrapped := true;
          v_found := carillon.next_lane(p_queue, p_handlers, p_now, p_from, p_until, '', false);
        end if;
        if v_found is null
          or v_wrapped and (v_found > p_lane collate "C" or v_is_going and v_found = p_lane) then
          v_is_again := true;
          continue;
        end if;
        select r.p_weight, r.p_open into v_weight, v_open
          from carillon.lane_room(v_found, p_now, position('/' in v_found) = 0) r;
      end if;
      v_start := false;
      v_at := v_found;
      v_names := v_names || v_found::text;
      v_weights := v_weights || v_weight;
      v_lefts := v_lefts || v_open;
      v_i := cardinality(v_names);
      v_quota := v_weight - v_before;
    end if;
    v_wanted := least(v_quota, v_lefts[v_i], p_limit - v_total);
    v_n := 0;
    if v_wanted > 0 then
      select r.p_seqs, r.p_last_rank, r.p_last_seq into v_some, v_rank, v_seq
        from carillon.lane_rows(p_queue, p_handlers, p_now, v_names[v_i],
          coalesce(v_ranks[v_i], -9223372036854775808), coalesce(v_lasts[v_i], -1), v_wanted) r;
      v_n := cardinality(v_some);
      v_lefts[v_i] := case when v_n < v_wanted then 0 else v_lefts[v_i] - v_n end;
      if v_n > 0 then
        v_ranks[v_i] := v_rank;
        v_lasts[v_i] := v_seq;
        p_seqs := p_seqs || v_some;
        p_lanes := p_lanes || array_fill(v_names[v_i], array[v_n]);
        p_takens := p_takens || array(select v_before + n from generate_series(1, v_n) n);
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
end $$;
