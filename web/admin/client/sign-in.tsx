import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../../session/failure.ts'
import { Brand } from '../../ui/brand.tsx'
import { TextField } from '../../ui/form.tsx'
import { Problem } from '../../ui/problem.tsx'
import { signIn } from './account.ts'
import { lastEmail } from './token.ts'

/** Email and password. It shows errors itself, because `Form` leaves a 401 to the sign-in screen. */
export default function SignIn({ note }: { note: string }) {
  const heading = useRef<HTMLHeadingElement>(null)
  const [email, setEmail] = useState(lastEmail)
  const [password, setPassword] = useState('')
  const [failure, setFailure] = useState<Failure>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = 'Sign in · Staff'
    heading.current?.focus({ preventScroll: true })
  }, [])
  const send = async (): Promise<void> => {
    if (busy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await signIn(email.trim(), password)
    } catch (error) {
      setFailure(toFailure(error))
      setPassword('')
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="alone">
      <Brand />
      <h1 ref={heading} tabIndex={-1}>
        Sign in
      </h1>
      {note && <p role="status">{note}</p>}
      <p>This page is for platform staff.</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <TextField
          label="Email"
          type="email"
          value={email}
          required
          maxLength={254}
          autocomplete="username"
          onText={setEmail}
        />
        <TextField
          label="Password"
          type="password"
          value={password}
          required
          maxLength={1_000}
          autocomplete="current-password"
          onText={setPassword}
        />
        {failure && <Problem failure={failure} />}
        <div class="actions">
          <button type="submit" class="primary" aria-busy={busy}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  )
}
