// Which declarations a package gets, and how those of the other package are named.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { typedEntries } from '../packages.ts'
import { declarationsFrom } from './declarations.ts'

const folder = mkdtempSync(join(tmpdir(), 'carillon-declarations-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const files: Readonly<Record<string, string>> = {
  'index.d.ts': `export { type Job } from './core/job.js';\nexport * from './core/star.js';\n`,
  'client/index.d.ts': `
import type { answer } from '../service/jobs/list.js';
import { z } from 'zod';
export type Answer = z.infer<typeof answer>;
export type Late = import('../core/late.js').Late;`,
  'core/job.d.ts': `
/** A job. */
export declare class Job { #private; readonly spec: Spec; readonly hidden: string }
interface Spec { readonly app: string }
export declare const unused: number;`,
  'core/late.d.ts': `export interface Late { readonly late: true }\nexport interface Other {}`,
  'core/star.d.ts': `export declare function one(): void;\ndeclare const two: 2;\nexport { two as second };`,
  'service/app.d.ts': `
import { FastifyInstance } from 'fastify';
export type App = FastifyInstance;`,
  'service/jobs/list.d.ts': `
import { z } from 'zod';
import type { App } from '../app.js';
export declare const answer: z.ZodObject<{ app: z.ZodString }>;
export declare function routes(app: App): void;`,
  'service/index.d.ts': `
import { Job } from '../core/job.js';
export { routes } from './jobs/list.js';
export declare function jobOf(id: string): Job;`,
}

function made() {
  for (const entry of [...typedEntries.carillon, ...typedEntries['carillon-service']]) {
    write(`${entry}.d.ts`, 'export {};\n')
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  return declarationsFrom(folder)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

describe('the declarations of a package', () => {
  const { carillon, 'carillon-service': service } = made()

  it('are those its entries lead to, with their comments', () => {
    expect(carillon.get('core/job.d.ts')).toBe(
      '/** A job. */\nexport declare class Job { #private; readonly spec: Spec; readonly hidden: string }\n' +
        'interface Spec { readonly app: string }\nexport {};\n',
    )
    expect(carillon.get('core/late.d.ts')).not.toContain('Other')
    expect(carillon.get('index.d.ts')).toContain("export { type Job } from './core/job.js';")
    expect(carillon.get('core/star.d.ts')).toContain('export { two as second };')
  })

  it('hold what the client has from the service, and not the routes beside it', () => {
    const text = carillon.get('service/jobs/list.d.ts')
    expect(text).toContain('export declare const answer')
    expect(text).not.toContain('routes')
    expect(carillon.has('service/app.d.ts')).toBe(false)
  })

  it('hold those of a package whose code is inside', () => {
    expect(carillon.get('client/index.d.ts')).toContain("import { z } from '../zod/index.js';")
    expect(carillon.get('zod/v4/classic/schemas.d.ts')).toContain('ZodObject')
  })

  it('name those of the library by its package, so that a class is declared once', () => {
    expect(service.get('service/index.d.ts')).toBe(
      "import { Job } from 'carillon/internal/core/job.js';\n" +
        'export declare function jobOf(id: string): Job;\n' +
        "export { routes } from './jobs/list.js';\nexport {};\n",
    )
    expect(service.get('service/app.d.ts')).toContain("import { FastifyInstance } from 'fastify';")
    expect(service.has('core/job.d.ts')).toBe(false)
  })
})
