// The way in: paste a token, or a link of the first start. The service puts it into a cookie that no
// script can read; nothing is kept here.

import { useState } from 'preact/hooks'
import { useAction } from '../data/act.ts'
import { sessionProblem, signIn } from '../data/session.ts'
import { ProblemBox } from '../components/conditions.tsx'
import { Field } from '../forms/field.tsx'
import { useTitle } from '../components/page.tsx'
import { CopyButton } from '../components/json.tsx'
import { Logo } from './logo.tsx'

const COMMAND = 'npx carillon token --role admin'

export function SignIn() {
  const [token, setToken] = useState('')
  const { isBusy, problem, run } = useAction(signIn)
  useTitle('Sign in')
  const submit = (event: Event) => {
    event.preventDefault()
    void run(token).then(isIn => isIn && setToken(''))
  }
  const refused = problem?.status === 401 ? 'It is not valid here, or it is no longer.' : null
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <h1>
          <Logo /> Carillon
        </h1>
        {sessionProblem.value !== null && <ProblemBox problem={sessionProblem.value} />}
        <Field label="Token or sign-in link">
          {wiring => (
            <input
              {...wiring}
              class="input mono"
              type="password"
              autocomplete="off"
              value={token}
              onInput={event => setToken((event.target as HTMLInputElement).value)}
            />
          )}
        </Field>
        {problem !== null && (
          <p class="rules" role="alert">
            {refused ?? problem.message}
          </p>
        )}
        <button type="submit" class="button primary" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        <div class="dim small stack">
          <p>The first start prints a link that signs you in. A token is made where it runs:</p>
          <div class="row">
            <code class="grow">{COMMAND}</code>
            <CopyButton text={COMMAND} />
          </div>
        </div>
      </form>
    </main>
  )
}
