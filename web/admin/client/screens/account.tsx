import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { identity, signOut } from '../account.ts'
import { api, take } from '../api.ts'
import { keepToken } from '../token.ts'

const Password = () => {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  return (
    <Form
      verb="Change the password"
      done={() => {
        setCurrent('')
        setNext('')
        announce('The password is changed.')
      }}
      send={async () => {
        // The answer has a session in place of those that end with the old password.
        keepToken(
          await take(api.POST('/admin/me/password', { body: { current_password: current, new_password: next } })),
        )
      }}
    >
      {(failure) => (
        <>
          <TextField
            label="Password now"
            type="password"
            required
            autocomplete="current-password"
            value={current}
            onText={setCurrent}
          />
          <TextField
            label="New password"
            hint="At least 12 characters. Your other sessions end."
            problem={fieldProblems(failure).new_password}
            type="password"
            required
            minLength={12}
            autocomplete="new-password"
            value={next}
            onText={setNext}
          />
        </>
      )}
    </Form>
  )
}

export default function Account() {
  const who = identity.value
  if (!who) return null
  return (
    <Screen title="Your account">
      <section class="card">
        <dl class="facts">
          <dt>Name</dt>
          <dd>
            <Name>{who.name}</Name>
          </dd>
          <dt>E-mail</dt>
          <dd>
            <Name>{who.email}</Name>
          </dd>
          <dt>Role</dt>
          <dd>
            {who.role === 'superadmin'
              ? 'Superadmin: everything'
              : 'Moderator: moderation and reading. Suspending, blocking, settings and staff are for superadmins.'}
          </dd>
        </dl>
        <div class="actions">
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </section>
      <section class="card">
        <h2>Password</h2>
        <Password />
      </section>
    </Screen>
  )
}
