// Workflows and sources made, changed and deleted in the browser, by fields and by text; what the
// service refuses stands at the field it is about.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { axe, findBrowser, openWorld, overflow, payloads, type World } from './world.ts'

const found = findBrowser()
const shots = fileURLToPath(new URL('shots/', import.meta.url))

interface Workflow {
  readonly name: string
  readonly revision: number
  readonly steps: readonly { readonly id: string; readonly needs: readonly string[] }[]
}

describe.runIf('path' in found)('forms of workflows and sources', () => {
  let world: World
  let page: Page

  beforeAll(async () => {
    mkdirSync(shots, { recursive: true })
    world = await openWorld((found as { path: string }).path)
    page = await world.signIn()
  })

  afterAll(() => world?.end())

  const open = (path: string) => world.open(page, path)
  const workflow = () => world.call<Workflow>('GET', '/workflows/7')
  const source = () => world.call<Record<string, unknown>>('GET', '/sources/rates')
  const field = (label: string | RegExp) => page.getByLabel(label, { exact: true })
  const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
  /** What was saved is shown: the heading of a form may have the same name. */
  const saved = async (name: string | RegExp) => {
    await page.waitForURL(({ pathname }) => !/\/(?:edit|new)$/.test(pathname))
    await page.getByRole('heading', { level: 1, name }).waitFor()
  }
  const rule = (text: string | RegExp) => page.locator('.field.wrong .rules', { hasText: text })
  const wrong = (label: string, text: string) =>
    rule(text)
      .locator('..')
      .filter({ has: page.getByText(label, { exact: true }) })
  const inert = async () => {
    expect(await page.evaluate('window.hit')).toBeUndefined()
    expect(await page.locator('main img, main iframe, main script').count()).toBe(0)
  }

  it('makes a workflow from the empty list, told at each field what is wrong', async () => {
    await open('/workflows')
    await page.getByRole('link', { name: 'Create the first workflow' }).click()
    await page.getByRole('heading', { level: 1, name: 'New workflow' }).waitFor()
    await field('Number').fill('7')
    await field('Id').first().fill(payloads[0])
    await press('Create the workflow')
    await rule('must be 1 to 64 letters').waitFor()
    expect(await field('Name').getAttribute('aria-invalid')).toBe('true')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-invalid")')).toBe('true')
    await inert()
    await field('Name').fill(payloads[1])
    await field('Id').first().fill('load')
    await field('Handler').fill('work.quick')
    await press('Add a step')
    await page.getByRole('button', { name: 'Request' }).nth(1).click()
    await field('Address').fill('ftp://example.com')
    await press('Create the workflow')
    await rule('http').waitFor()
    await field('Address').fill('https://example.com/hook')
    await press('Add a header')
    await field('Name').last().fill('Authorization')
    await field('Value').fill('Bearer abcdefghij')
    expect(await page.locator('.order li').allTextContents()).toEqual(['load', 'step-2'])
    await press('Create the workflow')
    await saved(payloads[1])
    await inert()
    expect(await workflow()).toMatchObject({
      name: payloads[1],
      trigger_nodes: [{ id: 'schedule-1', priority: 3, active: true }],
      steps: [
        { id: 'load', needs: [], handler: 'work.quick' },
        { id: 'step-2', needs: ['load'], http: { url: 'https://example.com/hook' } },
      ],
    })
  })

  it('changes its steps with what needs them, and shows both when someone was faster', async () => {
    await open('/workflows/7/edit')
    await field('Name').first().fill('Orders')
    await field('Id').first().fill('')
    await field('Id').first().pressSequentially('fetch')
    await press('Add a step')
    await page.getByRole('group', { name: 'Waits for' }).last().getByLabel('fetch').check()
    await field('Handler').last().fill('work.slow')
    await press('Move step step-3 up')
    expect(await page.locator('.order li').allTextContents()).toEqual(['fetch', 'step-2', 'step-3'])
    await world.call('PATCH', '/workflows/7', { active: false })
    await press('Save the changes')
    await page.getByText('Someone changed it meanwhile (now revision 2)').waitFor()
    await page.getByRole('row', { name: /^active/ }).waitFor()
    await press('Save yours on top')
    await saved(/Orders/)
    const { steps, ...rest } = await workflow()
    expect(rest).toMatchObject({ name: 'Orders', active: false, revision: 3 })
    expect(steps.map(({ id, needs }) => [id, needs])).toEqual([
      ['fetch', []],
      ['step-3', ['step-2', 'fetch']],
      ['step-2', ['fetch']],
    ])
  })

  it('takes it as text, which is checked the same way', async () => {
    await open('/workflows/7/edit')
    await press('YAML')
    const text = field(/^The whole as/)
    await text.waitFor()
    const yaml = await text.inputValue()
    expect(yaml).toContain('name: Orders')
    await text.fill(`${yaml}\n  - [`)
    await press('Save the changes')
    await page.getByText('The text cannot be read').waitFor()
    await text.fill(yaml.replace('- fetch', '- nowhere'))
    await press('Save the changes')
    await rule('needs.1 must name a step').waitFor()
    await text.fill(yaml.replace('name: Orders', 'name: Orders by text'))
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByLabel('The whole as JSON').waitFor()
    expect(JSON.parse(await text.inputValue())).toMatchObject({ name: 'Orders by text' })
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    expect(await field('Name').first().inputValue()).toBe('Orders by text')
    await press('YAML')
    await press('Save the changes')
    await saved(/Orders by text/)
    // The masked header of the call came back as it was, and nothing else changed.
    expect(await workflow()).toMatchObject({ name: 'Orders by text', active: false, revision: 4 })
  })

  it('adds a source, told at each field what is wrong', async () => {
    await open('/sources')
    await page.getByRole('link', { name: 'Add the first source' }).click()
    await field('Name').first().fill('rates')
    await field('Table').fill('Rates!')
    await field('Description').fill(payloads[0])
    await field('State').selectOption('inactive')
    await field('Address').fill('https://api.example.com/rates')
    await press('Add a header')
    await field('Name').last().fill('Authorization')
    await field('Value').fill('Bearer abc')
    await press('By number')
    await field('Parameter of the page').fill('')
    await field('From').fill('price.amount')
    await field('To column').fill('price amount')
    await press('Every…')
    await field('Every').fill('often')
    await press('Add the source')
    await rule('must be a reference to a secret').waitFor()
    expect(await page.locator('.field.wrong').count()).toBe(5)
    await inert()
    await field('Table').fill('rates')
    await field('Kind').selectOption('secret')
    await field('Secret').fill('RATES')
    await field('Prefix').fill('Bearer ')
    await press('Add a header')
    await field('Name').last().fill('Authorization')
    await field('Value').fill('twice')
    await field('Parameter of the page').fill('page')
    await field('To column').fill('price')
    await field('Every').fill('15m')
    await press('Add the source')
    await wrong('Name', 'is there twice').first().waitFor()
    expect(await wrong('Value', 'is there twice').count()).toBe(0)
    await field('Name').last().fill('bad name')
    await press('Add the source')
    await wrong('Name', 'must have the name of a header').waitFor()
    expect(await page.locator('.field.wrong').count()).toBe(1)
    await page.getByRole('button', { name: 'Remove header bad name' }).click()
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Add a header')
    await press('Add a field')
    await field('From').last().fill('currency')
    await field('To column').last().fill('currency')
    await press('Move field currency up')
    await press('Add the source')
    await saved(/rates/)
    await inert()
    expect(await source()).toMatchObject({
      table: 'rates',
      description: payloads[0],
      status: 'inactive',
      headers: { Authorization: { secret: 'RATES', prefix: 'Bearer ' } },
      response: {
        fields: [
          { source: 'currency', target: 'currency' },
          { source: 'price.amount', target: 'price' },
        ],
      },
      offsetPagination: { pageParam: 'page', limit: 100, counts: 'pages' },
      schedule: 'interval:15m',
    })
  })

  it('changes a source by fields and by text, each only what was meant', async () => {
    await open('/sources/rates/edit')
    expect(await page.locator('form').getByText('It cannot be changed later').count()).toBe(0)
    await press('By a cursor')
    await press('Save the changes')
    await rule('must be a dot path').waitFor()
    await field('Path of the next cursor').fill('meta.next')
    await field('Stops after (seconds)').fill('60')
    await press('Save the changes')
    await saved(/rates/)
    const changed = await source()
    expect(changed).toMatchObject({
      cursorPagination: { nextCursorPath: 'meta.next' },
      execution: { timeout: 60, maxRetries: 5 },
      schedule: 'interval:15m',
      revision: 2,
    })
    expect(changed['offsetPagination']).toBeUndefined()
    await open('/sources/rates/edit')
    await press('YAML')
    const text = page.getByLabel('The whole as YAML')
    const yaml = await text.inputValue()
    await text.fill(`${yaml}colour: red\n`)
    await press('Save the changes')
    await rule('colour is not known').waitFor()
    await text.fill(yaml.replace('schedule: interval:15m', 'schedule: hourly'))
    await press('Save the changes')
    await saved(/rates/)
    expect(await source()).toMatchObject({ schedule: 'hourly', status: 'inactive', revision: 3 })
  })

  it('sets, changes and lifts the limit of a domain', async () => {
    await open('/sources')
    await press('Set a limit')
    await field('Domain').fill('Example.COM')
    await press('Set the limit')
    await rule('in small letters').waitFor()
    await field('Domain').fill('example.com')
    await press('Set the limit')
    await page.getByText('60 requests per 1m').first().waitFor()
    await press('Change the limit of example.com')
    await field('Requests').fill('90')
    await press('Set the limit')
    await page.getByRole('cell', { name: '90 requests per 1m' }).waitFor()
    expect(await world.call('GET', '/source-limits/example.com')).toMatchObject({ limit: 90 })
    await press('Lift the limit of example.com')
    await page.getByText('No domain has a limit').waitFor()
  })

  it.each([
    ['newWorkflow', '/workflows/new'],
    ['editWorkflow', '/workflows/7/edit'],
    ['newSource', '/new-source'],
    ['editSource', '/sources/rates/edit'],
  ])('%s fits and reads in every look, with what is wrong shown', async (name, path) => {
    for (const [look, width] of [
      ['light', 1280],
      ['dark', 320],
    ] as const) {
      await page.setViewportSize({ width, height: 860 })
      await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' })
      await open(path)
      const isSource = name.endsWith('Source')
      await press(isSource ? 'Add a field' : 'Add a step')
      await press(isSource ? 'Add a parameter' : 'Add an entry')
      if (isSource)
        await field('Name')
          .last()
          .fill(`${payloads[2]} ${'x'.repeat(120)}`)
      else
        await field('Id')
          .first()
          .fill(`${payloads[2]}-${'x'.repeat(120)}`)
      await press(/^(?:Save the changes|Create the workflow|Add the source)$/)
      await page.locator('.field.wrong').first().waitFor()
      // Where the page was scrolled to, the frame may cover half a button.
      await page.evaluate('scrollTo(0, 0)')
      await page.screenshot({ path: join(shots, `${name}-${look}-${width}.png`), fullPage: true })
      expect(await overflow(page), `${name} at ${width}`).toBeLessThanOrEqual(0)
      expect(await axe(page), `${name} ${look}`).toEqual([])
      await press('YAML')
      await page.getByLabel('The whole as YAML').waitFor()
      await page.screenshot({ path: join(shots, `${name}-${look}-text.png`) })
      expect(await overflow(page), `${name} as text at ${width}`).toBeLessThanOrEqual(0)
      expect(await axe(page), `${name} as text, ${look}`).toEqual([])
    }
    await inert()
    await page.setViewportSize({ width: 1280, height: 860 })
  })

  it('deletes both after asking, with the revision that was seen', async () => {
    await open('/workflows/7')
    await press('Delete…')
    await page.getByRole('dialog').getByText('Its number is not given out again').waitFor()
    await world.call('PATCH', '/workflows/7', { name: 'Changed behind' })
    await press('Delete Orders by text')
    await page.getByRole('dialog').getByText('It has changed since').waitFor()
    await open('/workflows/7')
    await press('Delete…')
    await press('Delete Changed behind')
    await page.getByText('default has no workflows').waitFor()
    await open('/sources/rates')
    await press('Delete…')
    await page.getByLabel(/^Also delete the rows/).check()
    await press('Delete rates')
    await page.getByText('default has no sources').waitFor()
    expect(world.complaints).toEqual([])
  })

  it('offers nothing of it to those who may only look', async () => {
    const viewer = await world.signIn('viewer')
    for (const path of ['/workflows', '/sources']) {
      await viewer.goto(world.address + path)
      await viewer.locator('.empty').first().waitFor()
      expect(await viewer.getByRole('link', { name: /^(?:New|Make|Add)/ }).count()).toBe(0)
    }
    await viewer.context().close()
  })
})
