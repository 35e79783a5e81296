-- New jobs, idempotent by id. Answers with the number of each job inserted, or 0 exists, -1 full,
-- -2 a record conflicts. Many at once nearly always are new: they are inserted without a lookup first,
-- and looked up only if one of them turns out to exist.

create function carillon.insert(
  p_ids text[], p_series text[], p_kinds smallint[], p_shares int[], p_lines int[], p_lanes text[],
  p_states smallint[], p_whats smallint[], p_ats bigint[], p_ranks bigint[], p_untils bigint[],
  p_expires bigint[], p_attempts bigint[], p_fences bigint[], p_versions bigint[], p_tokens text[],
  p_owners text[], p_attempt_ids text[], p_claims bigint[], p_apps text[], p_definitions text[],
  p_births bigint[], p_kept bigint[], p_sought_ids text[], p_sought_names text[], p_bodies text,
  p_specs text, p_declared text, p_queue_at int[], p_queues text[], p_max bigint, p_records json,
  p_now bigint
)
returns bigint[]
language plpgsql as $$
#variable_conflict use_column
declare
  v_results smallint[];
  v_seqs bigint[];
  v_room bigint[];
  v_at int;
begin
  if p_records is not null and not carillon.records_fit(p_records, p_now) then
    return array_fill(-2::bigint, array[cardinality(p_ids)]);
  end if;
  if p_max is not null then
    v_room := carillon.room(p_queues, p_max);
  end if;
  if p_max is null and cardinality(p_ids) > 20 then
    begin
      v_seqs := carillon.add(array_fill(true, array[cardinality(p_ids)]), p_ids, p_series, p_kinds,
          p_shares, p_lines, p_lanes, p_states, p_whats, p_ats, p_ranks, p_untils, p_expires,
          p_attempts, p_fences, p_versions, p_tokens, p_owners, p_attempt_ids, p_claims, p_apps,
          p_definitions, p_births, p_kept, p_sought_ids, p_sought_names, p_bodies, p_specs,
          p_declared);
      if p_records is not null then
        perform carillon.records_put(p_records, p_now);
      end if;
      return v_seqs;
    exception when unique_violation then
      v_seqs := null;
    end;
  end if;
  if exists (select 1 from carillon.jobs j where j.id = any (p_ids)) then
    v_results := array(select case when j.id is null then 1 else 0 end
        from unnest(p_ids) with ordinality g (id, n) left join carillon.jobs j on j.id = g.id
        order by g.n);
  else
    v_results := array_fill(1::smallint, array[cardinality(p_ids)]);
  end if;
  if p_max is not null then
    for i in 1 .. cardinality(p_ids) loop
      v_at := p_queue_at[i];
      if v_results[i] = 1 and p_states[i] = 0 then
        if v_room[v_at] > 0 then
          v_room[v_at] := v_room[v_at] - 1;
        else
          v_results[i] := -1;
        end if;
      end if;
    end loop;
  end if;
  if 1 = any (v_results) then
    v_seqs := carillon.add(array(select r = 1 from unnest(v_results) r), p_ids, p_series, p_kinds,
        p_shares, p_lines, p_lanes, p_states, p_whats, p_ats, p_ranks, p_untils, p_expires,
        p_attempts, p_fences, p_versions, p_tokens, p_owners, p_attempt_ids, p_claims, p_apps,
        p_definitions, p_births, p_kept, p_sought_ids, p_sought_names, p_bodies, p_specs,
        p_declared);
  end if;
  if p_records is not null and v_seqs is not null then
    perform carillon.records_put(p_records, p_now);
  end if;
  return array(select coalesce(v_seqs[r.n], r.result)
      from unnest(v_results) with ordinality r (result, n) order by r.n);
end $$;
