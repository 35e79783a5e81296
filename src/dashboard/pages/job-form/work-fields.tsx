// What a job does: code by its name, a request, a crawl, a command, a workflow.

import { ChoiceField, TextField } from '../../forms/field.tsx'
import { Segments } from '../../components/segments.tsx'
import { methods, useHandlerNames } from '../../forms/handler-names.ts'
import type { Work } from './form.ts'
import type { SectionProps } from './when-fields.tsx'

const works: readonly (readonly [Work, string])[] = [
  ['http', 'Request'],
  ['handler', 'Handler'],
  ['crawl', 'Crawl'],
  ['command', 'Command'],
  ['workflow', 'Workflow'],
]

export function WorkFields(props: SectionProps) {
  const { form, change, problem } = props
  return (
    <fieldset>
      <legend>What it does</legend>
      <div>
        <Segments
          label="Kind of work"
          value={form.work}
          options={works}
          onChange={work => change({ work, kept: {} })}
        />
      </div>
      {form.work === 'handler' && <HandlerField {...props} />}
      {(form.work === 'http' || form.work === 'crawl') && (
        <TextField
          label="Address"
          type="url"
          value={form.url}
          onChange={url => change({ url })}
          placeholder="https://example.com/hook"
          problem={problem}
          names={['action.url', 'url', 'action']}
        />
      )}
      {form.work === 'http' && <RequestFields {...props} />}
      {form.work === 'crawl' && <CrawlFields {...props} />}
      {form.work === 'command' && (
        <TextField
          label="Command line"
          value={form.shell}
          onChange={shell => change({ shell })}
          isMono
          rows={2}
          problem={problem}
          names={['action']}
          hint="Runs in a shell on the node, if it was started with --allow-commands."
        />
      )}
      {form.work === 'workflow' && (
        <TextField
          label="Workflow id"
          value={form.workflow}
          onChange={workflow => change({ workflow })}
          problem={problem}
          names={['action']}
        />
      )}
      <TextField
        label="Payload (JSON)"
        value={form.payload}
        onChange={payload => change({ payload })}
        rows={4}
        isMono
        problem={problem}
        names={['payload']}
      />
    </fieldset>
  )
}

function HandlerField({ form, change, problem }: SectionProps) {
  const names = useHandlerNames()
  return (
    <TextField
      label="Handler"
      value={form.handler}
      onChange={handler => change({ handler })}
      suggestions={names}
      problem={problem}
      names={['handler']}
      hint="Code that a node has registered under this name."
    />
  )
}

function RequestFields({ form, change, problem }: SectionProps) {
  return (
    <>
      <ChoiceField
        label="Method"
        value={form.method}
        onChange={method => change({ method })}
        options={methods}
        problem={problem}
        names={['action.method']}
      />
      <TextField
        label="Headers (JSON)"
        value={form.headers}
        onChange={headers => change({ headers })}
        rows={2}
        isMono
        problem={problem}
        names={['action.headers']}
        hint="Secret values are shown as ***; left so, they stay as they are."
      />
    </>
  )
}

function CrawlFields({ form, change, problem }: SectionProps) {
  return (
    <div class="pair">
      <TextField
        label="Links deep"
        type="number"
        value={form.depth}
        onChange={depth => change({ depth })}
        problem={problem}
        names={['action.depth']}
      />
      <TextField
        label="Pages at most"
        type="number"
        value={form.pages}
        onChange={pages => change({ pages })}
        problem={problem}
        names={['action.pages']}
      />
    </div>
  )
}
