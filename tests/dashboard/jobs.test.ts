// Jobs in the browser: finding them, acting on one and on many, making and changing them; every time
// what the service says afterwards is what counts.

import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { expectAddress, findBrowser, openWorld, type Job, type World } from './world.ts'

const found = findBrowser()

describe.runIf('path' in found)('jobs in the dashboard', () => {
  let world: World
  let page: Page

  beforeAll(async () => {
    world = await openWorld((found as { path: string }).path)
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  const job = (id: string) => world.call<Job>('GET', `/jobs/${id}`)
  const open = async (path: string) => {
    await page.goto(world.address + path)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
  }
  const dialog = () => page.getByRole('dialog')
  const until = (id: string, what: string, fits: (one: Job) => boolean) =>
    eventually(what, async () => {
      const one = await job(id)
      return fits(one) ? one : null
    })

  it('filters by words and qualifiers, and the address holds it', async () => {
    await world.make({ name: 'alpha.mail', tags: ['mail'] })
    await world.make({ name: 'alpha.bill', tags: ['bill'], tenant: 'beta' })
    await open('/jobs')
    await page.getByLabel('Filter jobs').fill('alpha tag:mail')
    await page.getByRole('link', { name: 'alpha.bill' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'alpha.mail' }).waitFor()
    await expectAddress(page, 'q', 'alpha tag:mail')
    await page.reload()
    await page.getByText('1 found').waitFor()
    await page.getByLabel('Filter jobs').fill('alpha colour:red')
    await page.getByText('colour:red not known').waitFor()
    await page.getByLabel('Filter jobs').fill('alpha next:>30m last:never')
    await page.getByText('2 found').waitFor()
    await page.getByLabel('Filter jobs').fill('alpha next:<30m')
    await page.getByText('No job matches the filter').waitFor()
    await page.getByLabel('Filter jobs').fill('no such job')
    await page.getByRole('link', { name: 'Clear the filter' }).click()
    await page.getByRole('link', { name: 'alpha.bill' }).waitFor()
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('link').click()
    await page.locator('th[aria-sort=ascending]').waitFor()
    const names = await page.locator('tbody .job-link').allTextContents()
    expect(names).toEqual([...names].sort())
  })

  it('pauses with a note and an end, resumes, and can undo', async () => {
    const { id } = await world.make({ name: 'to.pause' })
    await open(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog().getByLabel('How long').selectOption('open')
    expect(await dialog().getByRole('button', { name: 'Pause to.pause' }).isDisabled()).toBe(true)
    await dialog().getByLabel(/^Why/).fill('database upgrade')
    await dialog().getByLabel('How long').selectOption('tomorrow')
    await dialog().getByRole('button', { name: 'Pause to.pause' }).click()
    const paused = await until(id, 'it is paused', one => one['is_paused'] === true)
    expect(paused).toMatchObject({ pause_note: 'database upgrade', status: 'paused' })
    expect(Date.parse(String(paused['paused_until']))).toBeGreaterThan(Date.now())
    await page.getByText('“database upgrade”').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await until(id, 'it is resumed', one => one['is_paused'] === false)
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog().getByRole('button', { name: 'Pause to.pause' }).click()
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await until(id, 'the pause is undone', one => one['is_paused'] === false)
  })

  it('runs now with another payload, beside the schedule', async () => {
    const { id, next_run_at } = await world.make({ name: 'to.run', payload: { n: 1 } })
    await open(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Run now' }).click()
    await dialog().getByLabel('Payload').fill('{"n": ')
    expect(await dialog().getByRole('button', { name: 'Run once now' }).isDisabled()).toBe(true)
    await dialog().getByLabel('Payload').fill('{"n": 2}')
    await dialog().getByRole('button', { name: 'Run once now' }).click()
    await page.getByText('to.run runs once').waitFor()
    const after = await until(id, 'it ran', one => one['run_count'] === 1)
    expect(after['next_run_at']).toBe(next_run_at)
    // Told by the stream: nothing was reloaded.
    await page.getByRole('table', { name: 'Newest runs' }).getByText('Completed').waitFor()
    await page
      .locator('.heartbeat')
      .getByRole('link', { name: /run by hand, completed/ })
      .waitFor()
  })

  it('tells how often a job ran, also where its runs live as tasks', async () => {
    const { id } = await world.make({
      name: 'side.by.side',
      trigger: { every: '1s' },
      overlap: 'allow',
    })
    const stats = () => world.call<Record<string, number>>('GET', `/jobs/${id}/stats`)
    await eventually('it ran twice', async () =>
      (await stats())['total_runs']! >= 2 ? true : null,
    )
    await world.call('POST', `/jobs/${id}/pause`)
    // Outcomes of tasks are added to their series within a second.
    const { total_runs: runs } = await eventually('every run is counted', async () => {
      const now = await stats()
      return now['total_executions'] === now['total_runs'] ? now : null
    })
    await open(`/jobs/${id}`)
    const figures = page.locator('.figures', { hasText: 'runs in all' })
    const figure = (name: string) => figures.locator('div', { hasText: name })
    await figure('runs in all').getByText(String(runs)).waitFor()
    await figure('succeeded').getByText('100 %').waitFor()
    await figure('failed').getByText('0', { exact: true }).waitFor()
    expect(await figures.locator('dt').allTextContents()).not.toContain('executions')
  })

  it('says why, and starts over what was given up', async () => {
    const { id } = await world.make({
      name: 'to.fail',
      handler: 'work.fails',
      trigger: { manual: true },
      retry: { limit: 0 },
    })
    await world.call('POST', `/jobs/${id}/run`)
    await open(`/jobs/${id}`)
    await page.getByRole('button', { name: 'Why?' }).click()
    expect(await dialog().locator('.verdict').textContent()).not.toBe('')
    await page.keyboard.press('Escape')
    await dialog().waitFor({ state: 'detached' })
    const ended = await world.make({
      name: 'given.up',
      handler: 'work.fails',
      trigger: { at: new Date().toISOString() },
      retry: { limit: 0 },
    })
    await until(ended.id, 'it was given up', one => one['status'] === 'failed')
    await open('/')
    const line = page.locator('.findings li', { hasText: 'given.up' })
    await line.getByText('Given up: no such host').waitFor()
    const before = (await job(ended.id))['run_count']
    await line.getByRole('button', { name: 'Start over' }).click()
    await until(ended.id, 'it ran again', one => Number(one['run_count']) > Number(before))
  })

  it("shows the service's own rules at the fields, then makes the job", async () => {
    await open('/jobs/new')
    await page.getByLabel('Name').fill('made.here')
    await page.getByLabel('Address').fill('ftp://example.com')
    await page
      .getByRole('group', { name: 'Kind of schedule' })
      .getByRole('button', { name: 'Cron' })
      .click()
    await page.getByLabel('Cron expression').fill('61 * * * *')
    await page.getByText('^').waitFor()
    await page.getByLabel('Time zone').fill('Europe/Atlantis')
    await page.getByRole('button', { name: 'Create the job' }).click()
    await page.locator('.field.wrong', { hasText: 'Address' }).waitFor()
    const wrong = await page.locator('.field.wrong label').allTextContents()
    expect(wrong).toContain('Address')
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe('true')
    await page.getByLabel('Address').fill('https://example.com/hook')
    await page.getByLabel('Cron expression').fill('30 2 * * 1-5')
    await page.getByLabel('Time zone').fill('Europe/Berlin')
    await page.getByText('At 02:30 on Monday to Friday').first().waitFor()
    await page.getByLabel('Tags').fill('one, two')
    await page.getByRole('button', { name: 'Create the job' }).click()
    await page.getByRole('heading', { level: 1, name: /made\.here/ }).waitFor()
    const { jobs } = await world.call<{ jobs: Job[] }>('GET', '/jobs?search=made.here')
    expect(jobs).toMatchObject([
      {
        trigger: { cron: '30 2 * * 1-5', timezone: 'Europe/Berlin' },
        action: { kind: 'http', url: 'https://example.com/hook' },
        tags: ['one', 'two'],
      },
    ])
  })

  it('changes only what was changed, and shows both sides when someone was faster', async () => {
    const { id } = await world.make({ name: 'to.edit', priority: 3 })
    await open(`/jobs/${id}/edit`)
    await page.getByText('Retries, overlap, queue, tags…').click()
    await page.getByLabel('Priority').selectOption('6')
    await world.call('PATCH', `/jobs/${id}`, { name: 'renamed.meanwhile' })
    await page.getByRole('button', { name: 'Save the changes' }).click()
    await page.getByText('Someone changed it meanwhile').waitFor()
    await page.getByRole('cell', { name: '"renamed.meanwhile"' }).waitFor()
    expect(await job(id)).toMatchObject({ priority: 3 })
    await page.getByRole('button', { name: 'Save yours on top' }).click()
    await page.getByRole('heading', { level: 1, name: /renamed\.meanwhile/ }).waitFor()
    expect(await job(id)).toMatchObject({ name: 'renamed.meanwhile', priority: 6 })
  })

  it('edits any setting by field and as text, and sends only what was changed', async () => {
    const { id } = await world.make({ name: 'as.text', metadata: { team: 'a' } })
    await open(`/jobs/${id}/edit`)
    await page.getByText('Retries, overlap, queue, tags…').click()
    await page.getByLabel('Attempts kept', { exact: true }).fill('7')
    await page.getByLabel('Repeated hour').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const text = page.getByLabel('The whole as JSON')
    const shown = JSON.parse(await text.inputValue()) as Record<string, unknown>
    expect(shown).toMatchObject({ handler: 'work.quick', retention: { attempts: 7 } })
    await text.fill(JSON.stringify({ ...shown, tags: ['by-text'] }))
    await world.call('PATCH', `/jobs/${id}`, { priority: 5 })
    await page.getByRole('button', { name: 'Save the changes' }).click()
    await page.getByText('Someone changed it meanwhile').waitFor()
    await page.getByRole('button', { name: 'Save yours on top' }).click()
    await page.getByRole('heading', { level: 1, name: /as\.text/ }).waitFor()
    expect(await job(id)).toMatchObject({
      priority: 5,
      tags: ['by-text'],
      retention: { attempts: 7 },
      metadata: { team: 'a' },
    })
  })

  it('changes many at once: the selected ones, and all that match', async () => {
    const made = await Promise.all(
      [1, 2, 3].map(n => world.make({ name: `many.${n}`, tags: ['many'] })),
    )
    await open('/jobs?q=tag%3Amany')
    await page.getByLabel('Select many.1').check()
    await page.getByRole('region', { name: 'Selected jobs' }).getByText('Select all 3').click()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog().getByRole('button', { name: 'Pause 3 jobs' }).click()
    await dialog().getByText('3 of 3 done').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    for (const { id } of made) expect(await job(id)).toMatchObject({ status: 'paused' })
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog().getByRole('button', { name: 'Delete 3 jobs' }).click()
    await dialog().getByText('3 of 3 done').waitFor()
    await dialog().getByRole('button', { name: 'Close' }).last().click()
    await page.getByText('No job matches the filter').waitFor()
  })

  it('cancels, duplicates and deletes from the menu', async () => {
    const { id } = await world.make({ name: 'to.end' })
    await open(`/jobs/${id}`)
    const menu = async (item: string) => {
      await page.getByRole('button', { name: 'More for to.end' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await menu('Duplicate')
    await page.getByRole('heading', { name: 'New job' }).waitFor()
    await eventually('the form is filled', async () =>
      (await page.getByLabel('Name').inputValue()) === 'to.end copy' ? true : null,
    )
    await open(`/jobs/${id}`)
    await menu('Cancel…')
    await dialog().getByLabel('Reason').fill('no longer needed')
    await dialog().getByRole('button', { name: 'Cancel the job' }).click()
    await until(id, 'it is cancelled', one => one['status'] === 'cancelled')
    await page.locator('.banner', { hasText: 'no longer needed' }).waitFor()
    await menu('Delete…')
    await dialog().getByRole('button', { name: 'Delete the job' }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    await expect(job(id)).rejects.toThrow('404')
  })

  it('did nothing the browser complained about', () => {
    expect(world.complaints).toEqual([])
  })
})
