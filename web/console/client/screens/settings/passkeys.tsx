import { useState } from 'preact/hooks'
import type { Failure } from '../../../../session/failure.ts'
import { addPasskey, deviceName, hasPasskeys, removePasskey } from '../../../../session/passkey.ts'
import { useAction } from '../../../../ui/act.ts'
import { announce } from '../../../../ui/announce.tsx'
import { refresh, useData } from '../../../../ui/data.ts'
import { TextField } from '../../../../ui/form.tsx'
import { rich, t } from '../../../../ui/messages.ts'
import { Problem } from '../../../../ui/problem.tsx'
import { Shown } from '../../../../ui/screen.tsx'
import { Name, When } from '../../../../ui/text.tsx'
import { isOwner, signInAgain } from '../../account.ts'
import { api, type Schemas, unwrap } from '../../api.ts'

const KEY = 'passkeys'

const calls = {
  begin: () => unwrap(api.POST('/console/passkeys/options')),
  add: (body: object) => unwrap(api.POST('/console/passkeys', { body: body as never })),
  remove: (id: string) => unwrap(api.DELETE('/console/passkeys/{id}', { params: { path: { id } } })),
  list: () => unwrap(api.GET('/console/passkeys')),
}

/** An error, with a way to sign in again if the sign-in is too old. */
const Refusal = ({ failure }: { failure: Failure }) =>
  failure.code === 'confirmation_required' ? (
    <div class="note warn" role="alert">
      <p>{t('To protect your account, you can change passkeys only within 10 minutes of signing in.')}</p>
      <button type="button" onClick={() => void signInAgain(t('Sign in again to change your passkeys.'))}>
        {t('Sign in again')}
      </button>
    </div>
  ) : (
    <Problem failure={failure} />
  )

const Entry = ({ passkey }: { passkey: Schemas['Passkey'] }) => {
  const { busy, failure, act } = useAction()
  const remove = async (): Promise<void> => {
    await removePasskey(calls, passkey)
    announce(t('Passkey removed.'))
    await refresh(KEY)
  }
  return (
    <li>
      <div class="row">
        <div class="grow">
          <strong>
            <Name>{passkey.name}</Name>
          </strong>
          <span class="soft">
            {rich('added {time}', { time: <When at={passkey.created_at} /> })}
            {passkey.last_used_at && <> {rich('· last used {time}', { time: <When at={passkey.last_used_at} /> })}</>}
          </span>
        </div>
        <button type="button" aria-busy={busy} onClick={() => act(remove)}>
          {rich('Remove<span> the passkey {name}</span>', {
            name: <Name>{passkey.name}</Name>,
            span: (text) => <span class="unseen">{text}</span>,
          })}
        </button>
      </div>
      {failure && <Refusal failure={failure} />}
    </li>
  )
}

const Add = () => {
  const [name, setName] = useState(deviceName)
  const { busy, failure, act } = useAction()
  const add = async (): Promise<void> => {
    await addPasskey(calls, name.trim())
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
      {failure && <Refusal failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Add a passkey')}
        </button>
      </div>
    </form>
  )
}

/** The user's passkeys. */
export const Passkeys = () => {
  const known = useData(KEY, calls.list)
  return (
    <>
      <p>
        {t('A passkey signs you in with this device’s fingerprint, face or PIN, or with a security key.')}
        {isOwner.value && t(' If you lose your Telegram account, it’s how you get back into your workspace.')}
      </p>
      <Shown known={known} rows={1}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft">{t('You have no passkeys yet.')}</p>
          ) : (
            <ul class="rows">
              {items.map((passkey) => (
                <Entry key={passkey.id} passkey={passkey} />
              ))}
            </ul>
          )
        }
      </Shown>
      {hasPasskeys ? <Add /> : <p class="hint">{t('Open the console in a browser to add one.')}</p>}
    </>
  )
}
