// The forms of the pages outside a browser, for tests.

import { vi } from 'vitest'

/** The kinds of documents; their modules look for what a browser has when they are loaded. */
export async function loadForms() {
  vi.stubGlobal('document', { querySelector: () => null, documentElement: { dataset: {} } })
  vi.stubGlobal('location', { search: '', pathname: '/', hash: '' })
  vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} })
  const { formKind, repeatedNames } = await import('./form-kind.ts')
  const { SchemaForm } = await import('./document-form.tsx')
  const { jobKind } = await import('../pages/job-form/job-kind.ts')
  const { sourceLayout } = await import('../pages/source-form/layout.ts')
  const workflows = await import('../pages/workflow-form/workflow-kind.ts')
  const steps = await import('../pages/workflow-form/steps.ts')
  const { session } = await import('../data/session.ts')
  session.value = { tenant: '*', role: 'admin' } as unknown as typeof session.value
  const kinds = {
    job: jobKind,
    source: (schema: Parameters<typeof formKind>[0]) => formKind(schema, sourceLayout),
    workflow: workflows.workflowKind,
  }
  return { kinds, SchemaForm, repeatedNames, steps, ...workflows }
}
