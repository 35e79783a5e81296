// The packages as their users get them: what is in the tarballs, and that their entries load and type-check.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageNames, type PackageName } from '../../scripts/packages.ts'
import { importsOf } from './imports.ts'
import { loads } from './loads.ts'
import { entries, packAndInstall, root } from './package.ts'
import type { Projects } from './package.ts'

const found = packageNames.flatMap(entries)

const strictOptions = {
  target: 'ES2023',
  module: 'NodeNext',
  strict: true,
  noEmit: true,
  types: ['node'],
}

/** Files of ours that a start may read: time goes with their number. */
const FILES_MAX = { version: 6, next: 10, list: 24, add: 27, serve: 38 }

let projects: Projects

beforeAll(() => {
  projects = packAndInstall()
})

afterAll(() => projects?.remove())

/** What a module in the project writes. */
const said = (project: string, script: string): string => {
  const args = ['--input-type=module', '--eval', script]
  return execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
}

const filesOf = (name: PackageName) => projects.packed[name].files

const textOf = (name: PackageName, path: string): string =>
  readFileSync(join(projects.both, 'node_modules', name, path), 'utf8')

const codeOf = (name: PackageName): readonly string[] =>
  filesOf(name).filter(path => path.endsWith('.js') && !path.startsWith('dist/dashboard/'))

describe.each(packageNames)('the package %s', name => {
  it('holds the build, its papers and nothing else', () => {
    const papers = /^(?:dist\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/
    expect(filesOf(name).filter(path => !papers.test(path))).toEqual([])
    expect(filesOf(name).filter(path => /\.test\.|tsbuildinfo/.test(path))).toEqual([])
    expect(filesOf(name)).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md']))
  })

  it('holds every file its exports map points to', () => {
    const targets = entries(name).flatMap(entry => entry.targets.map(target => target.slice(2)))
    expect(targets.filter(target => !filesOf(name).includes(target))).toEqual([])
  })

  it('declares the packages its files import', () => {
    const { dependencies, peerDependencies } = projects.packed[name].manifest
    const declared = [name, ...Object.keys({ ...dependencies, ...peerDependencies })]
    const isDeclared = (specifier: string) =>
      specifier.startsWith('node:') ||
      declared.some(one => specifier === one || specifier.startsWith(`${one}/`))
    const types = filesOf(name).filter(path => path.endsWith('.d.ts'))
    const missing = [...codeOf(name), ...types].flatMap(path =>
      importsOf(path, textOf(name, path))
        .filter(specifier => !isDeclared(specifier))
        .map(specifier => `${path}: ${specifier}`),
    )
    expect(missing).toEqual([])
  })

  it('names its files in a few words, and maps every line to a source that it holds', () => {
    const wordy = codeOf(name).filter(path => path.split('/').at(-1)!.split('-').length > 4)
    expect(wordy).toEqual([])
    for (const path of codeOf(name)) {
      if (!textOf(name, path).includes('//# sourceMappingURL=')) continue
      expect(filesOf(name)).toContain(`${path}.map`)
      const { sources, sourcesContent } = JSON.parse(textOf(name, `${path}.map`)) as {
        readonly sources: readonly string[]
        readonly sourcesContent: readonly (string | null)[]
      }
      expect(sourcesContent.filter(text => typeof text === 'string')).toHaveLength(sources.length)
    }
  })

  it('is in order by the rules of publint', async () => {
    const bytes = readFileSync(projects.packed[name].tarball)
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    const { messages } = await publint({ pack: { tarball } })
    expect(messages).toEqual([])
  })

  it('has types that fit its code, by the rules of arethetypeswrong', async () => {
    const bytes = new Uint8Array(readFileSync(projects.packed[name].tarball))
    const analysis = await checkPackage(createPackageFromTarballData(bytes))
    if (analysis.types === false) throw new Error(`${name} has no types`)
    // Modules of ES only: what CommonJS without require(esm) and Node 10 would find does not count.
    const other = ['node10', 'node16-cjs']
    const problems = analysis.problems.filter(problem => {
      const kind = 'resolutionKind' in problem ? problem.resolutionKind : 'any'
      return !other.includes(kind)
    })
    expect(problems).toEqual([])
  })
})

describe('the library alone', () => {
  it.each(entries('carillon').filter(({ specifier }) => specifier !== 'carillon/server'))(
    '$specifier loads in a plain Node process, whole',
    async entry => {
      const script = `console.log(Object.keys(await import('${entry.specifier}')).join())`
      const names = said(projects.library, script).trim().split(',').toSorted()
      const target = entry.targets.find(path => path.endsWith('.js'))!
      const source = target.replace('./dist/', 'src/').replace(/js$/, 'ts')
      expect(names).toEqual(Object.keys((await import(join(root, source))) as object).toSorted())
    },
  )

  it('runs a job', () => {
    const output = said(
      projects.library,
      `import { createScheduler, job } from 'carillon'
      const hello = job('hello', { run: () => 'hi' })
      const scheduler = await createScheduler({ jobs: [hello], store: 'memory:' }).start()
      console.log(await (await scheduler.trigger('hello', undefined)).result())
      await scheduler.stop()`,
    )
    expect(output).toContain('hi\n')
  })

  it('has one copy of every class, whichever entry brings it', () => {
    const output = said(
      projects.library,
      `import { SchedulerError } from 'carillon'
      import { createTestScheduler } from 'carillon/testing'
      const refused = await createTestScheduler({ jobs: [], slots: -1 }).catch(error => error)
      console.log(refused instanceof SchedulerError)`,
    )
    expect(output).toBe('true\n')
  })

  it('says what to install for the command and for carillon/server', () => {
    const { version } = projects.packed.carillon.manifest
    const launcher = join(projects.library, 'node_modules/carillon/dist/launcher.js')
    const run = (...args: string[]) =>
      spawnSync(process.execPath, args, { cwd: projects.library, encoding: 'utf8' })
    expect(run(launcher, 'list')).toMatchObject({
      status: 1,
      stdout: '',
      stderr:
        'The carillon command is in the package carillon-service: ' +
        `npm install carillon-service@${version}\n`,
    })
    expect(run(launcher, '--version')).toMatchObject({ status: 0, stdout: `${version}\n` })
    const imports = run('--input-type=module', '--eval', "await import('carillon/server')")
    expect(imports.status).toBe(1)
    expect(imports.stderr).toContain(
      'carillon/server needs the package carillon-service: npm install carillon-service',
    )
  })

  it('brings types that a strict project accepts', () => {
    const own = found.filter(({ specifier, owner }) => {
      return owner === 'carillon' && specifier !== 'carillon/server'
    })
    expect(typeErrors(projects.library, own)).toBe('')
  })
})

describe('both packages', () => {
  it.each([
    ['carillon', 'dist', 'zod'],
    ['carillon-service', 'dist', 'commander'],
    ['carillon-service', 'dist/dashboard', 'preact'],
    ['carillon-service', 'dist/dashboard', 'uplot'],
  ] as const)('name in %s/%s whose work is inside: %s', (owner, folder, name) => {
    const notices = textOf(owner, `${folder}/THIRD-PARTY.txt`)
    expect(notices).toMatch(new RegExp(`^${name} \\d[^]+?Permission`, 'm'))
  })

  it('export the same from carillon/server and carillon-service', () => {
    const script = (name: string) => `console.log(Object.keys(await import('${name}')).join())`
    const output = said(projects.both, script('carillon/server'))
    expect(output).toBe(said(projects.both, script('carillon-service')))
    expect(output).toContain('createApp')
  })

  it('have one copy of every class between them', () => {
    const output = said(
      projects.both,
      `import { SchedulerError } from 'carillon'
      import { httpSettings } from 'carillon/server'
      const refused = (() => {
        try { return httpSettings({ jsonDepthMax: -1 }) } catch (error) { return error }
      })()
      console.log(refused instanceof SchedulerError)`,
    )
    expect(output).toBe('true\n')
  })

  it('are refused together when their versions differ', () => {
    const path = join(projects.both, 'node_modules/carillon-service/package.json')
    const text = readFileSync(path, 'utf8')
    const { version } = projects.packed.carillon.manifest
    const launcher = join(projects.both, 'node_modules/carillon/dist/launcher.js')
    try {
      writeFileSync(path, text.replace(`"version": "${version}"`, '"version": "9.9.9"'))
      const options = { cwd: projects.both, encoding: 'utf8' } as const
      const ended = spawnSync(process.execPath, [launcher, 'list'], options)
      expect(ended.status).toBe(1)
      expect(ended.stderr).toBe(
        `carillon ${version} needs carillon-service ${version}, found 9.9.9 at ${path}: ` +
          `npm install carillon-service@${version}\n`,
      )
    } finally {
      writeFileSync(path, text)
    }
  })

  it.each([
    ['postgres://u@127.0.0.1:1/d', 'the PostgreSQL store needs the package pg: npm install pg'],
    ['redis://127.0.0.1:1', 'the Redis store needs the package @redis/client: npm install'],
  ])('say which package a store at %s needs', (store, message) => {
    const command = join(projects.both, 'node_modules/carillon/dist/launcher.js')
    const args = [command, 'serve', '--store', store, '--port', '0']
    const ended = spawnSync(process.execPath, args, { cwd: projects.both, encoding: 'utf8' })
    expect(ended.status).not.toBe(0)
    expect(ended.stderr).toContain(message)
  })

  it('bring types that a strict project accepts', () => {
    expect(typeErrors(projects.both, found)).toBe('')
  })
})

describe('the command', () => {
  it('reads few files to say its version, and no package', async () => {
    const { own, packages } = await loads(projects.both, ['--version'])
    expect(own).toBeLessThanOrEqual(FILES_MAX.version)
    expect(packages).toEqual([])
  })

  it('reads few files to explain an expression, and nothing of the service', async () => {
    const { own, packages } = await loads(projects.both, ['next', '0 3 * * *'])
    expect(own).toBeLessThanOrEqual(FILES_MAX.next)
    expect(packages).toEqual([])
  })

  it('reads few files to ask a local store, and no package', async () => {
    const place = ['--store', `sqlite:${join(projects.both, 'asked.db')}`]
    const added = ['add', 'nightly', '--cron', '0 3 * * *', '--http', 'https://example.com']
    const made = await loads(projects.both, [...added, ...place])
    expect(made.own).toBeLessThanOrEqual(FILES_MAX.add)
    expect(made.packages).toEqual([])
    const listed = await loads(projects.both, ['list', ...place])
    expect(listed.own).toBeLessThanOrEqual(FILES_MAX.list)
    expect(listed.packages).toEqual([])
  })

  it('reads few files to serve, and no package before it is of use', async () => {
    const words = ['serve', '--port', '0', '--log-level', 'silent']
    const { own, packages } = await loads(projects.both, words, /sign in/)
    expect(own).toBeLessThanOrEqual(FILES_MAX.serve)
    expect(packages).toContain('fastify')
    const late = ['undici', 'jose', 'htmlparser2', '@fastify/swagger', 'fastify-type-provider-zod']
    expect(packages.filter(name => [...late, 'yaml'].includes(name))).toEqual([])
  })
})

function typeErrors(project: string, of: typeof found): string {
  const imports = of.map(({ specifier }, n) => `export * as m${n} from '${specifier}'`)
  writeFileSync(join(project, 'use.ts'), imports.join('\n'))
  const config = { compilerOptions: strictOptions, files: ['use.ts'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  return spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' }).stdout
}
