// Runs in the browser: finding them, what one of them did, acting on it, and the timeline of all.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { expectAddress, findBrowser, openWorld, payloads, type Job, type World } from './world.ts'

const found = findBrowser()

interface Asked {
  readonly run_id: string
}

interface Run {
  readonly id: string
  readonly status: string
  readonly reason: string | null
}

describe.runIf('path' in found)('runs in the dashboard', () => {
  let world: World
  let page: Page
  const jobs: Record<string, Job> = {}

  beforeAll(async () => {
    world = await openWorld((found as { path: string }).path)
    const manual = { trigger: { manual: true }, retry: { limit: 0 } }
    jobs.quick = await world.make({ name: 'quick.one', ...manual, payload: { n: 1 } })
    jobs.talks = await world.make({ name: 'talks.one', ...manual, handler: 'work.talks' })
    jobs.slow = await world.make({ name: 'slow.one', ...manual, handler: 'work.slow' })
    jobs.hostile = await world.make({ name: payloads[0], ...manual, handler: 'work.hostile' })
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  const open = async (path: string) => {
    await page.goto(world.address + path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  }
  const start = async (name: string, body?: object) => {
    const { run_id } = await world.call<Asked>('POST', `/jobs/${jobs[name]!.id}/run`, body)
    return run_id
  }
  const ended = (id: string, status: string) =>
    eventually(`${id} is ${status}`, async () => {
      const run = await world.call<Run>('GET', `/runs/${encodeURIComponent(id)}`)
      return run.status === status ? run : null
    })

  it('lists runs as they happen, by state, and the address holds the filters', async () => {
    await open('/runs')
    await page.getByText('No runs yet').waitFor()
    await start('quick')
    const table = page.getByRole('table', { name: 'Runs' })
    await table.getByRole('row', { name: /Completed quick\.one/ }).waitFor()
    await ended(await start('hostile'), 'failed')
    await page.getByRole('link', { name: 'Failed', exact: true }).click()
    await table.getByRole('row', { name: /quick\.one/ }).waitFor({ state: 'detached' })
    await expectAddress(page, 'status', 'failed')
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await page.locator('main img').count()).toBe(0)
    await page.getByText('More filters').click()
    await page.getByLabel('Queue').fill('nobody')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No run matches').waitFor()
    await page.getByRole('link', { name: 'Show all runs' }).click()
    await table.getByRole('row', { name: /quick\.one/ }).waitFor()
  })

  it('pages through them by links', async () => {
    for (let n = 0; n < 52; n++) await start('quick')
    await eventually('they ran', async () => {
      const job = await world.call<{ run_count: number }>('GET', `/jobs/${jobs.quick!.id}`)
      return job.run_count >= 53 ? true : null
    })
    await open(`/runs?job=${jobs.quick!.id}`)
    await page.getByRole('link', { name: 'Next' }).click()
    await page.getByRole('link', { name: 'First' }).waitFor()
    await page.getByRole('link', { name: '#1', exact: true }).waitFor()
    await page.getByRole('link', { name: 'First' }).click()
    await page.getByRole('link', { name: '#53', exact: true }).waitFor()
    await expectAddress(page, 'cursor', null)
  })

  it('shows where the time of a run went, what it was given and what it gave', async () => {
    const id = await start('quick')
    await ended(id, 'completed')
    await open(`/runs/${encodeURIComponent(id)}`)
    const bar = page.locator('.time-bar')
    await bar.waitFor()
    expect(await bar.getAttribute('aria-label')).toMatch(/^Waiting .* then Starting .* Running /)
    await page.getByRole('region', { name: 'Result' }).getByText('"done": true').waitFor()
    expect(await page.locator('[style]').count()).toBe(0)
    await page.keyboard.press('[')
    await page.getByRole('heading', { level: 1, name: /#53/ }).waitFor()
  })

  it('follows the log while it is written, and finds words and levels in it', async () => {
    const id = await start('talks')
    await open(`/runs/${encodeURIComponent(id)}`)
    const log = page.getByRole('log')
    await log.getByText('line 1', { exact: true }).waitFor()
    await page.getByText('following').waitFor()
    await log.getByText('the last line').waitFor()
    await page.getByText('ended', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'warn', exact: true }).click()
    await log.getByText('line 1', { exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'debug', exact: true }).click()
    await page.getByLabel('Search the log').fill('line 2')
    await eventually('one line is left', async () =>
      (await log.locator('.log-line').count()) === 1 ? true : null,
    )
    expect(await log.locator('.message').textContent()).toBe('line 2')
  })

  it('cancels with a reason, retries, and replays with another payload', async () => {
    const id = await start('slow')
    await ended(id, 'running')
    await open(`/runs/${encodeURIComponent(id)}`)
    await page.getByRole('button', { name: 'Cancel…' }).click()
    await page.getByLabel('Reason').fill('no longer needed')
    await page.getByRole('button', { name: 'Cancel this run' }).click()
    const { reason } = await ended(id, 'cancelled')
    expect(reason).toBe('no longer needed')
    const first = await start('quick')
    await ended(first, 'completed')
    await open(`/runs/${encodeURIComponent(first)}`)
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('link', { name: `Retry of ${first}` }).waitFor()
    await page.getByRole('button', { name: 'Replay…' }).click()
    await page.getByLabel('Payload (JSON)').fill('{"n": ')
    const run = page.getByRole('button', { name: 'Run with this payload' })
    expect(await run.isDisabled()).toBe(true)
    await page.getByLabel('Payload (JSON)').fill('{"n": 2}')
    const before = page.url()
    await run.click()
    await eventually('the new run is shown', () => (page.url() === before ? null : true))
    await page.getByText('Completed').first().waitFor()
  })

  it('N3 shows the payload a run got after its job was given another one', async () => {
    const manual = { trigger: { manual: true }, payload: { n: 1 } }
    jobs.edited = await world.make({ name: 'edited.one', ...manual })
    const id = await start('edited')
    await ended(id, 'completed')
    await world.call('PATCH', `/jobs/${jobs.edited.id}`, { payload: { n: 2 } })
    await open(`/runs/${encodeURIComponent(id)}`)
    await page.getByText('From revision 1 of the job.').waitFor()
    const retention = { attempts: 10, age_seconds: 60, payloads: false }
    await world.call('PATCH', `/jobs/${jobs.edited.id}`, { retention })
    await open(`/runs/${encodeURIComponent(id)}`)
    await page.getByText('The payload of revision 1 of the job is no longer kept.').waitFor()
    const card = page.locator('.card', { hasText: 'no longer kept' })
    expect(await card.getByRole('heading').textContent()).toBe('Payload')
  })

  it('draws runs over time, zooms, and is a table as well', async () => {
    const quick = await world.make({ name: 'drawn.often', trigger: { every: '1m' } })
    await open('/timeline')
    await page.locator('.gantt .row-label', { hasText: 'drawn.often' }).waitFor()
    await page.locator('.gantt .coming').first().waitFor()
    expect(await page.locator('.gantt .bar').count()).toBeGreaterThan(0)
    const gantt = page.getByRole('group', { name: /^Timeline/ })
    await gantt.focus()
    await page.keyboard.press('+')
    await eventually('it holds still', () => (page.url().includes('from=') ? true : null))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('0')
    await eventually('it moves again', () => (page.url().includes('from=') ? null : true))
    await page.getByRole('button', { name: 'View as table' }).click()
    const table = page.getByRole('table', { name: 'Past and coming runs' })
    await table
      .getByRole('row', { name: /drawn\.often.*Scheduled/ })
      .first()
      .waitFor()
    await open(`/timeline?job=${quick.id}`)
    await page.getByRole('button', { name: 'Tenants' }).click()
    await page.locator('.gantt .row-label', { hasText: 'acme' }).waitFor()
    expect(await page.locator('[style]').count()).toBe(0)
    expect(world.complaints).toEqual([])
  })

  it('offers viewers nothing they may not do', async () => {
    const id = await start('quick')
    await ended(id, 'completed')
    const viewer = await world.signIn('viewer')
    await viewer.goto(`${world.address}/runs/${encodeURIComponent(id)}`)
    await viewer.locator('.time-bar').waitFor()
    for (const name of ['Retry', 'Replay…', 'Cancel…']) {
      expect(await viewer.getByRole('button', { name }).count()).toBe(0)
    }
    await viewer.context().close()
  })
})
