import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { addPasskey, deviceName } from '../../session/passkey.ts'
import { Brand } from '../../ui/brand.tsx'
import { Form, TextField } from '../../ui/form.tsx'
import { openPage, signOut } from './account.ts'
import { calls, confirmWithPasskey } from './passkeys.ts'

const Step = ({ title, children }: { title: string; children: ComponentChildren }) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Staff`
    heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <main class="alone">
      <Brand />
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
      <div class="actions">
        <button type="button" class="quiet" onClick={() => void signOut()}>
          Cancel and sign out
        </button>
      </div>
    </main>
  )
}

/** Asks for the passkey after the password. */
export const SecondStep = () => (
  <Step title="Use your passkey">
    <Form verb="Use passkey" send={confirmWithPasskey} done={() => void openPage()}>
      <p>Your password was correct. Your account also has a passkey, which completes the sign-in.</p>
    </Form>
    <p class="hint">Lost it? Another superadmin can remove it, or the operator with npm run admin.</p>
  </Step>
)

/** Asks for a first passkey, for accounts that must have one. */
export const FirstPasskey = () => {
  const [name, setName] = useState(deviceName)
  return (
    <Step title="Add a passkey">
      <Form verb="Add passkey" send={() => addPasskey(calls, name.trim())} done={() => void openPage()}>
        <p>
          Your account needs a passkey: this device’s fingerprint, face or PIN, or a security key. From now on, you sign
          in with your password and the passkey.
        </p>
        <TextField
          label="Name of the passkey"
          hint="Tells your passkeys apart."
          required
          maxLength={100}
          autocomplete="off"
          value={name}
          onText={setName}
        />
      </Form>
    </Step>
  )
}
