import { useState } from 'preact/hooks'
import { Modal } from '../../ui/dialog.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { api, unwrap } from './api.ts'
import { asked } from './confirmation.ts'
import { confirmWithPasskey } from './passkeys.ts'

const WithPasskey = ({ done }: { done: () => void }) => (
  <Form verb="Use passkey" send={confirmWithPasskey} done={done}>
    <p>This action needs your passkey again. You won’t be asked for the next 10 minutes.</p>
  </Form>
)

const WithPassword = ({ done }: { done: () => void }) => {
  const [password, setPassword] = useState('')
  return (
    <Form
      verb="Confirm"
      send={() => unwrap(api.POST('/admin/me/confirm/password', { body: { password } }))}
      done={done}
    >
      <p>This action needs your password again. You won’t be asked for the next 10 minutes.</p>
      <TextField
        label="Your password"
        type="password"
        required
        autocomplete="current-password"
        value={password}
        onText={setPassword}
      />
    </Form>
  )
}

/** Asks the admin to confirm that it’s them, while a request waits. */
export const Confirmation = () => {
  const now = asked.value
  if (!now) return null
  const done = () => now.finish(true)
  return (
    <Modal title="Confirm it’s you" onClose={() => now.finish(false)}>
      {now.method === 'passkey' ? <WithPasskey done={done} /> : <WithPassword done={done} />}
    </Modal>
  )
}
