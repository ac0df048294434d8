import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Failure } from '../session/failure.ts'
import { addPasskey, deviceName, hasPasskeys, type PasskeyCalls, removePasskey } from '../session/passkey.ts'
import { useAction } from './act.ts'
import { announce } from './announce.tsx'
import { refresh, useData } from './data.ts'
import { TextField } from './form.tsx'
import { rich, t } from './messages.ts'
import { Problem } from './problem.tsx'
import { Shown } from './screen.tsx'
import { Name, When } from './text.tsx'

const KEY = 'passkeys'

interface Passkey {
  id: string
  credential_id: string
  user_handle: string
  name: string
  created_at: string
  last_used_at: string | null
}

/** A page's API for the passkeys of the account, and how the page shows them. */
export interface PasskeyPage {
  calls: PasskeyCalls<Passkey>
  signInAgain(note: string): Promise<void>
  added(time: VNode): ComponentChildren
  row: string
  removeButton?: string
  addButton?: string
}

/** An error, with a way to sign in again if the sign-in is too old. */
const Refusal = ({ failure, page }: { failure: Failure; page: PasskeyPage }) =>
  failure.code === 'confirmation_required' ? (
    <div class="note warn" role="alert">
      <p>{t('To protect your account, you can change passkeys only within 10 minutes of signing in.')}</p>
      <button type="button" onClick={() => void page.signInAgain(t('Sign in again to change your passkeys.'))}>
        {t('Sign in again')}
      </button>
    </div>
  ) : (
    <Problem failure={failure} />
  )

const Entry = ({ passkey, page }: { passkey: Passkey; page: PasskeyPage }) => {
  const { busy, failure, act } = useAction()
  const remove = async (): Promise<void> => {
    await removePasskey(page.calls, passkey)
    announce(t('Passkey removed.'))
    await refresh(KEY)
  }
  return (
    <li>
      <div class={page.row}>
        <div class="grow">
          <strong>
            <Name>{passkey.name}</Name>
          </strong>
          <span class="soft">
            {page.added(<When at={passkey.created_at} />)}
            {passkey.last_used_at && <> {rich('· last used {time}', { time: <When at={passkey.last_used_at} /> })}</>}
          </span>
        </div>
        <button type="button" class={page.removeButton} aria-busy={busy} onClick={() => act(remove)}>
          {rich('Remove<span> the passkey {name}</span>', {
            name: <Name>{passkey.name}</Name>,
            span: (text) => <span class="unseen">{text}</span>,
          })}
        </button>
      </div>
      {failure && <Refusal failure={failure} page={page} />}
    </li>
  )
}

const Add = ({ page }: { page: PasskeyPage }) => {
  const [name, setName] = useState(deviceName)
  const { busy, failure, act } = useAction()
  const add = async (): Promise<void> => {
    await addPasskey(page.calls, name.trim())
    announce(t('Passkey added.'))
    await refresh(KEY)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void act(add)
      }}
    >
      <TextField
        label={t('Name of the passkey')}
        required
        maxLength={100}
        autocomplete="off"
        value={name}
        onText={setName}
      />
      {failure && <Refusal failure={failure} page={page} />}
      <div class="actions">
        <button type="submit" class={page.addButton} aria-busy={busy}>
          {t('Add a passkey')}
        </button>
      </div>
    </form>
  )
}

/** Lists the account's passkeys, which can be removed, and adds one of this device. */
export const PasskeyList = ({
  page,
  none,
  unsupported,
}: {
  page: PasskeyPage
  /** Shown instead of an empty list. */
  none?: ComponentChildren
  /** Shown instead of the form if the browser can't use passkeys here. */
  unsupported: string
}) => {
  const known = useData(KEY, page.calls.list)
  return (
    <>
      <Shown known={known} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            none
          ) : (
            <ul class="rows">
              {items.map((passkey) => (
                <Entry key={passkey.id} passkey={passkey} page={page} />
              ))}
            </ul>
          )
        }
      </Shown>
      {hasPasskeys ? <Add page={page} /> : <p class="hint">{unsupported}</p>}
    </>
  )
}
