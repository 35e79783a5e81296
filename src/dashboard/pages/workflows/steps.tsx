// The steps of a workflow as boxes with lines between them, coloured by how they ended in a run.

import type { Workflow, WorkflowRun } from '../../data/reads.ts'
import { spanText } from '../../components/format.ts'
import { Glyph } from '../../components/glyph.tsx'
import { lookOf } from '../../components/states.ts'
import { placeSteps, type Placed } from './graph.ts'

type Step = Workflow['steps'][number]
type StepRun = WorkflowRun['steps'][number]

const WIDTH = 168
const HEIGHT = 46
const GAP_X = 44
const GAP_Y = 16

interface StepsProps {
  readonly steps: readonly Step[]
  readonly run: WorkflowRun | null
}

const x = ({ column }: Placed<Step>) => column * (WIDTH + GAP_X) + 1
const y = ({ row }: Placed<Step>) => row * (HEIGHT + GAP_Y) + 1

export function StepsDrawing({ steps, run }: StepsProps) {
  const placed = placeSteps(steps)
  const byId = new Map(placed.map(one => [one.step.id, one]))
  const width = Math.max(...placed.map(one => x(one) + WIDTH)) + 1
  const height = Math.max(...placed.map(one => y(one) + HEIGHT)) + 1
  const states = new Map(run?.steps.map(step => [step.id, step]))
  return (
    <div class="steps" tabIndex={0} role="region" aria-label="Steps drawn in their order">
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        {placed.flatMap((to, at) =>
          to.step.needs.flatMap(need => {
            const from = byId.get(need)
            return from ? <Edge key={`${at} ${need}`} from={from} to={to} /> : []
          }),
        )}
        {placed.map((one, at) => (
          <Box key={at} place={one} state={states.get(one.step.id) ?? null} />
        ))}
      </svg>
    </div>
  )
}

function Edge({ from, to }: { readonly from: Placed<Step>; readonly to: Placed<Step> }) {
  const start = x(from) + WIDTH
  const end = x(to)
  const middle = (start + end) / 2
  const [a, b] = [y(from) + HEIGHT / 2, y(to) + HEIGHT / 2]
  return <path class="edge" d={`M${start} ${a}C${middle} ${a} ${middle} ${b} ${end} ${b}`} />
}

function Box({ place, state }: { readonly place: Placed<Step>; readonly state: StepRun | null }) {
  const { step } = place
  const { family, label } = lookOf(state?.status ?? 'queued')
  const what = step.handler ?? 'HTTP call'
  const went = state === null ? what : `${label.toLowerCase()}${tookText(state)}`
  return (
    <g class={`step-box${state === null ? '' : ` s-${family} known`}`}>
      <rect x={x(place)} y={y(place)} width={WIDTH} height={HEIGHT} rx={8} />
      <text class="step-name" x={x(place) + 12} y={y(place) + 19}>
        {cut(step.id, 22)}
      </text>
      <text class="step-what" x={x(place) + 12} y={y(place) + 36}>
        {cut(went, 27)}
      </text>
      <title>{`${step.id}: ${what}, ${went}${state?.error ? `\n${state.error}` : ''}`}</title>
    </g>
  )
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

export function tookText({ started_at, finished_at }: StepRun): string {
  if (started_at === null || finished_at === null) return ''
  return ` in ${spanText(Date.parse(finished_at) - Date.parse(started_at))}`
}

/** The same in words, for those who do not see the drawing. */
export function StepList({ steps, run }: StepsProps) {
  const states = new Map(run?.steps.map(step => [step.id, step]))
  return (
    <ol class="step-list">
      {steps.map(({ id, handler, needs }) => {
        const state = states.get(id)
        return (
          <li key={id}>
            {state && <Glyph look={lookOf(state.status)} />}
            <strong>{id}</strong> <span class="dim">{handler ?? 'HTTP call'}</span>
            {needs.length > 0 && <span class="dim"> after {needs.join(', ')}</span>}
            {state && (
              <span>
                {' '}
                {lookOf(state.status).label.toLowerCase()}
                {tookText(state)}
              </span>
            )}
            {state?.error && <span class="bad"> {state.error}</span>}
          </li>
        )
      })}
    </ol>
  )
}
