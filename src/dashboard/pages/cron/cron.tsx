// The cron lab: what an expression means, when it fires, what a change of the clocks does to it, and
// how it differs from another one. Nothing here changes a job.

import { useState } from 'preact/hooks'
import type { ApiProblem } from '../../data/problem.ts'
import { Empty, Loading, ProblemBox } from '../../components/conditions.tsx'
import { ChoiceField, Field, TextField } from '../../forms/field.tsx'
import { Card, Page } from '../../components/page.tsx'
import { CopyButton } from '../../components/json.tsx'
import { useView } from '../../components/view-state.ts'
import { localZone } from '../../view.ts'
import { Compared, DstNotes, Lints, NextTable } from './answers.tsx'
import { Builder } from './builder.tsx'
import { usePreview, type PreviewQuery, type Preview } from './use-preview.ts'

const START = '30 2 * * *'
const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** What was typed is shown at once and goes to the address, so that every lab is a link. */
function useCronQuery(): readonly [PreviewQuery, (changes: Partial<PreviewQuery>) => void] {
  const view = useView()
  const [query, setQuery] = useState<PreviewQuery>(() => ({
    cron: view.get('cron') ?? START,
    dialect: view.get('dialect') === 'posix' ? 'posix' : 'extended',
    zone: view.get('tz') ?? localZone,
    gap: view.get('gap') === 'skip' ? 'skip' : 'shift',
    fold: view.get('fold') === 'both' ? 'both' : 'first',
    compare: view.get('compare') ?? '',
  }))
  const change = (changes: Partial<PreviewQuery>) => {
    const next = { ...query, ...changes }
    setQuery(next)
    view.set({
      cron: next.cron,
      tz: next.zone === localZone ? null : next.zone,
      dialect: next.dialect === 'extended' ? null : next.dialect,
      gap: next.gap === 'shift' ? null : next.gap,
      fold: next.fold === 'first' ? null : next.fold,
      compare: next.compare,
    })
  }
  return [query, change]
}

export function CronLab() {
  const [query, change] = useCronQuery()
  const preview = usePreview(query)
  return (
    <Page title="Cron lab" about="Try an expression. Nothing here changes a job.">
      <div class="cards lab">
        <Card title="Expression">
          <Form query={query} change={change} preview={preview} />
        </Card>
        <Card title="Build one">
          <Builder onBuilt={cron => change({ cron })} />
        </Card>
        <Answers query={query} preview={preview} />
      </div>
    </Page>
  )
}

interface FormProps {
  readonly query: PreviewQuery
  readonly change: (changes: Partial<PreviewQuery>) => void
  readonly preview: Preview
}

function Form({ query, change, preview }: FormProps) {
  const { problem, data } = preview
  return (
    <div class="stack">
      <Field label="Cron expression" problem={problem} names={['cron']}>
        {wiring => (
          <input
            {...wiring}
            class="input mono cron-input"
            value={query.cron}
            spellcheck={false}
            autocomplete="off"
            onInput={event => change({ cron: event.currentTarget.value })}
          />
        )}
      </Field>
      <Caret text={query.cron} problem={problem} />
      <p class="sentence" role="status">
        {data?.zones[0]?.description ?? ''}
      </p>
      {data !== null && data.canonical !== query.cron && (
        <p class="dim small">
          The same as <code>{data.canonical}</code>
        </p>
      )}
      <TextField
        label="Time zone"
        value={query.zone}
        onChange={zone => change({ zone })}
        suggestions={zones}
        problem={problem}
        names={['timezones']}
        hint={query.zone === localZone ? 'Yours.' : `Yours is ${localZone}.`}
      />
      <Rules query={query} change={change} />
      <TextField
        label="Compare with"
        value={query.compare}
        onChange={compare => change({ compare })}
        isMono
        placeholder="another expression"
        problem={problem}
        names={['compare']}
      />
      <div class="row">
        <CopyButton text={query.cron} label="Copy expression" />
      </div>
    </div>
  )
}

function Rules({ query, change }: Omit<FormProps, 'preview'>) {
  return (
    <div class="cron-rules">
      <ChoiceField
        label="Dialect"
        value={query.dialect}
        onChange={dialect => change({ dialect })}
        options={[
          ['extended', 'Extended: seconds, L, W, #'],
          ['posix', 'POSIX: five fields'],
        ]}
      />
      <ChoiceField
        label="A time that does not exist"
        value={query.gap}
        onChange={gap => change({ gap })}
        options={[
          ['shift', 'runs right after the gap'],
          ['skip', 'is left out'],
        ]}
      />
      <ChoiceField
        label="A time that comes twice"
        value={query.fold}
        onChange={fold => change({ fold })}
        options={[
          ['first', 'runs the first time'],
          ['both', 'runs both times'],
        ]}
      />
    </div>
  )
}

/** Points at the place the service stumbled over. */
function Caret({ text, problem }: { readonly text: string; readonly problem: ApiProblem | null }) {
  const column = problem?.more.column
  const hint = problem?.more.hint
  if (typeof column !== 'number') return null
  const at = Math.max(0, Math.min(column, text.length))
  return (
    <pre class="caret" aria-hidden="true">
      {text}
      {'\n'}
      {' '.repeat(at)}^{typeof hint === 'string' ? ` ${hint}` : ''}
    </pre>
  )
}

function Answers({ query, preview }: { readonly query: PreviewQuery; readonly preview: Preview }) {
  const { data, problem, isBusy } = preview
  if (data === null) {
    if (problem !== null) {
      const isOfField = problem.errors.some(({ field }) =>
        /^(?:cron|compare|timezones)/.test(field),
      )
      return (
        <Card title="Next" wide>
          {isOfField ? (
            <Empty title="It cannot be read yet">{problem.message}</Empty>
          ) : (
            <ProblemBox problem={problem} />
          )}
        </Card>
      )
    }
    return (
      <Card title="Next" wide>
        {isBusy ? <Loading /> : <Empty title="Type an expression" />}
      </Card>
    )
  }
  const zone = data.zones[0]!
  return (
    <>
      {data.compare !== null && <Compared compare={data.compare} zone={zone.timezone} />}
      <Card title="Next 10" aside={zone.timezone} wide isFlush>
        <NextTable next={zone.next} zone={zone.timezone} />
      </Card>
      <Card title="Changes of the clocks">
        <DstNotes zone={zone} dst={{ gap: query.gap, fold: query.fold }} />
      </Card>
      <Card title="Worth a look">
        <Lints lints={data.lints} />
      </Card>
    </>
  )
}
