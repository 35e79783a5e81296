// What a run was given: its payload, or each of them if its job was edited between two attempts.

import type { RunDetail } from '../../data/reads.ts'
import { Card } from '../../components/page.tsx'
import { Json } from '../../components/json.tsx'

type Step = RunDetail['payloads'][number]

export function PayloadCard({ run }: { readonly run: RunDetail }) {
  if (run.payloads.length < 2) {
    return (
      <Card title="Payload">
        <Payload shown={run} />
      </Card>
    )
  }
  return (
    <Card title="Payloads">
      {run.payloads.map((step, i) => (
        <section key={step.attempt}>
          <p>{attemptsText(step, run.payloads[i + 1])}</p>
          <Payload shown={step} />
        </section>
      ))}
    </Card>
  )
}

function attemptsText({ attempt }: Step, next: Step | undefined): string {
  if (next === undefined) return `From attempt ${attempt} on`
  const last = next.attempt - 1
  return last === attempt ? `Attempt ${attempt}` : `Attempts ${attempt} to ${last}`
}

function Payload({ shown }: { readonly shown: Omit<Step, 'attempt'> }) {
  const { payload, payload_of: of, payload_revision: revision } = shown
  if (of === null) {
    return (
      <p class="dim">
        {revision === null
          ? 'It was given a payload of its own, which is not kept.'
          : `The payload of revision ${revision} of the job is no longer kept.`}
      </p>
    )
  }
  return (
    <>
      <p class="dim">
        {revision === null ? 'Given to this run.' : `From revision ${revision} of the job.`}
      </p>
      <Json value={payload} name="Payload" />
    </>
  )
}
