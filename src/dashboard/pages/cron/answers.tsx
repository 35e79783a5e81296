// What the service says about an expression: its moments in three zones, clock changes, warnings, and
// what another expression adds and takes away.

import { second } from '../../clock.ts'
import type { CronPreview } from '../../data/reads.ts'
import { Empty } from '../../components/conditions.tsx'
import { momentText, plural, relativeText, spanText } from '../../components/format.ts'
import { Icon } from '../../components/icon.tsx'
import { Card } from '../../components/page.tsx'
import { Table, type Column } from '../../components/table.tsx'
import { localZone } from '../../view.ts'

type Zone = CronPreview['zones'][number]
type Next = Zone['next'][number]

const noteWords: Readonly<Record<string, string>> = {
  'dst-gap-shifted': 'does not exist that day: moved behind the gap',
  'dst-first-of-two': 'comes twice that day: runs the first time',
  'dst-second-of-two': 'comes twice that day: the second time',
}

/** The zone of the schedule, that of the reader and UTC; where some are the same, one far away. */
function zonesFor(zone: string): readonly string[] {
  return [...new Set([zone, localZone, 'UTC', 'America/New_York', 'Asia/Tokyo'])].slice(0, 3)
}

function nextColumns(zone: string, now: number): readonly Column<Next>[] {
  return [
    ...zonesFor(zone).map((name, at): Column<Next> => ({
      key: `zone-${at}`,
      head: name === localZone ? `${name} (yours)` : name,
      isMain: at === 0,
      cell: one => momentText(Date.parse(one.at), { zone: name, hasSeconds: true, now: 0 }),
    })),
    { key: 'in', head: 'In', cell: one => relativeText(Date.parse(one.at), now) },
    {
      key: 'gap',
      head: 'Since the previous',
      align: 'end',
      cell: one => (one.gap_ms === null ? '–' : spanText(one.gap_ms)),
    },
    {
      key: 'note',
      head: 'Note',
      cell: one =>
        one.note === null ? (
          <span class="dim">–</span>
        ) : (
          <span class="note">
            <Icon name="warn" /> {noteWords[one.note] ?? one.note}
          </span>
        ),
    },
  ]
}

export function NextTable({
  next,
  zone,
}: {
  readonly next: readonly Next[]
  readonly zone: string
}) {
  if (next.length === 0) return <Empty title="It never fires" />
  return (
    <Table
      caption="The next moments it fires"
      columns={nextColumns(zone, second.value)}
      items={next}
      keyOf={one => one.at}
    />
  )
}

interface DstProps {
  readonly zone: Zone
  readonly dst: { readonly gap: 'shift' | 'skip'; readonly fold: 'first' | 'both' }
}

export function DstNotes({ zone, dst }: DstProps) {
  if (zone.transitions.length === 0) {
    return <p>{zone.timezone} does not change its clocks within a year.</p>
  }
  return (
    <ul class="notes">
      {zone.transitions.map(({ at, before, after, change_ms }) => (
        <li key={at}>
          <strong>{momentText(Date.parse(at), { zone: zone.timezone, now: 0 })}</strong>
          <span>
            The clocks go {change_ms > 0 ? 'forward' : 'back'} by {spanText(Math.abs(change_ms))},
            from <code>{before}</code> to <code>{after}</code>.{' '}
            {change_ms > 0 ? gapText(dst.gap) : foldText(dst.fold)}
          </span>
        </li>
      ))}
    </ul>
  )
}

function gapText(gap: DstProps['dst']['gap']): string {
  return gap === 'shift'
    ? 'A time in the gap runs right behind it.'
    : 'A time in the gap is left out.'
}

function foldText(fold: DstProps['dst']['fold']): string {
  return fold === 'first'
    ? 'A time that comes twice runs the first time only.'
    : 'A time that comes twice runs both times.'
}

export function Lints({ lints }: { readonly lints: CronPreview['lints'] }) {
  if (lints.length === 0) return <p>Nothing looks unintended.</p>
  return (
    <ul class="notes">
      {lints.map(({ code, message }) => (
        <li key={code}>
          <span class="note">
            <Icon name="warn" /> {message}
          </span>
        </li>
      ))}
    </ul>
  )
}

const SHOWN = 10

interface ComparedProps {
  readonly compare: NonNullable<CronPreview['compare']>
  readonly zone: string
}

export function Compared({ compare, zone }: ComparedProps) {
  const { cron, description, is_same, added, removed, added_count, removed_count } = compare
  const until = momentText(Date.parse(compare.until), { zone, now: 0 })
  const isEqual = added_count === 0 && removed_count === 0
  return (
    <Card
      title={
        <>
          Against <code>{cron}</code>
        </>
      }
      aside={description}
      wide
    >
      {is_same || isEqual ? (
        <p>
          {is_same
            ? 'They mean the same, at any time.'
            : `They fire at the same moments until ${until}.`}
        </p>
      ) : (
        <div class="cards">
          <Moments title="adds" count={added_count} moments={added} zone={zone} sign="+" />
          <Moments title="removes" count={removed_count} moments={removed} zone={zone} sign="−" />
          <p class="dim small wide">Until {until}.</p>
        </div>
      )}
    </Card>
  )
}

interface MomentsProps {
  readonly title: string
  readonly count: number
  readonly moments: readonly string[]
  readonly zone: string
  readonly sign: string
}

function Moments({ title, count, moments, zone, sign }: MomentsProps) {
  return (
    <section class="stack">
      <h3>
        It {title} {plural(count, 'firing')}
      </h3>
      <ul class="notes mono">
        {moments.slice(0, SHOWN).map(at => (
          <li key={at}>
            {sign} {momentText(Date.parse(at), { zone, hasSeconds: true })}
          </li>
        ))}
      </ul>
      {count > SHOWN && <p class="dim small">and {count - SHOWN} more</p>}
    </section>
  )
}
