import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { fieldProblems } from '../../../ui/problem.tsx'
import { Screen } from '../../../ui/screen.tsx'
import { Name } from '../../../ui/text.tsx'
import { identity, signOut } from '../account.ts'
import { api, unwrap } from '../api.ts'
import { saveToken } from '../token.ts'
import { Passkeys } from './account/passkeys.tsx'
import { Sessions } from './account/sessions.tsx'

const Password = () => {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [keepKeys, setKeepKeys] = useState(false)
  return (
    <Form
      verb="Change password"
      done={() => {
        setCurrent('')
        setNext('')
        announce('Password changed.')
      }}
      send={async () => {
        // Changing the password ends all sessions. The response contains a new one.
        saveToken(
          await unwrap(
            api.POST('/admin/me/password', {
              body: { current_password: current, new_password: next, keep_keys: keepKeys },
            }),
          ),
        )
        await refresh('sessions')
      }}
    >
      {(failure) => (
        <>
          <TextField
            label="Current password"
            type="password"
            required
            autocomplete="current-password"
            value={current}
            onText={setCurrent}
          />
          <TextField
            label="New password"
            hint="At least 12 characters. This signs you out of your other sessions."
            problem={fieldProblems(failure).new_password}
            type="password"
            required
            minLength={12}
            autocomplete="new-password"
            value={next}
            onText={setNext}
          />
          <label class="tick">
            <input
              type="checkbox"
              checked={keepKeys}
              onChange={({ currentTarget }) => setKeepKeys(currentTarget.checked)}
            />
            <span>Keep my API keys working</span>
          </label>
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
          <dt>Email</dt>
          <dd>
            <Name>{who.email}</Name>
          </dd>
          <dt>Role</dt>
          <dd>
            {who.role === 'superadmin'
              ? 'Superadmin. You have full access.'
              : 'Moderator. You can view everything and moderate. Only superadmins can suspend, block, and manage settings and staff accounts.'}
          </dd>
        </dl>
        <div class="actions">
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </section>
      <section class="card">
        <h2>Passkeys</h2>
        <Passkeys />
      </section>
      <section class="card">
        <h2>Where you’re signed in</h2>
        <Sessions />
      </section>
      <section class="card">
        <h2>Password</h2>
        <Password />
      </section>
    </Screen>
  )
}
