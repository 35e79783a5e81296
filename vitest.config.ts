// One vitest project per test suite, so that `vitest run --project cron` and `npm test` agree.

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { testSuites } from './scripts/suites/table.ts'

export default defineConfig({
  test: {
    // Processes, not threads: tests may change the environment, signals and working folder.
    pool: 'forks',
    // As many as there are cores: by default one less, which on two cores is one.
    maxWorkers: availableParallelism(),
    projects: testSuites.map(({ name, folders, timeoutMs, setup }) => ({
      extends: true,
      test: {
        name,
        globalSetup: [
          'tests/support/servers/global-setup.ts',
          ...(setup === undefined ? [] : [setup]),
        ],
        include: folders.map(folder => `${folder}/**/*.test.ts`),
        testTimeout: timeoutMs,
        hookTimeout: timeoutMs,
      },
    })),
  },
})
