import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { refresh } from '../../../ui/data.ts'
import { Form, TextField } from '../../../ui/form.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { fieldProblems, Problem } from '../../../ui/problem.tsx'
import { Name } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { KINDS, type Kind } from './notification-kinds.ts'

type Preferences = Schemas['NotificationPreferences']
type Way = 'none' | 'at_once' | 'digest'

const reload = (): Promise<unknown> => refresh('notifications preferences')

/** Takes the code that was sent to a new address. */
const CodeForm = ({ address, change }: { address: string; change: () => void }) => {
  const [code, setCode] = useState('')
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/console/email/confirm', { body: { code: code.trim() } }))
    announce(t('E-mail address confirmed.'))
    await reload()
  }
  return (
    <Form verb={t('Confirm')} send={send}>
      {(failure) => (
        <>
          <p>{rich('We sent a code to {address}.', { address: <Name>{address}</Name> })}</p>
          <TextField
            label={t('Code')}
            hint={t('Six digits')}
            problem={fieldProblems(failure).code}
            required
            maxLength={6}
            autocomplete="one-time-code"
            value={code}
            onText={setCode}
          />
          <p>
            <button type="button" class="quiet" onClick={change}>
              {t('Use another address')}
            </button>
          </p>
        </>
      )}
    </Form>
  )
}

const AddressForm = ({ cancel }: { cancel?: (() => void) | undefined }) => {
  const [email, setEmail] = useState('')
  const send = async (): Promise<void> => {
    await unwrap(api.PUT('/console/email', { body: { email: email.trim() } }))
    cancel?.()
    await reload()
  }
  return (
    <Form verb={t('Send code')} send={send}>
      {(failure) => (
        <>
          <TextField
            label={t('E-mail address')}
            hint={t('We’ll send a code to it, so that only you can add your address.')}
            problem={fieldProblems(failure).email}
            type="email"
            required
            maxLength={254}
            autocomplete="email"
            value={email}
            onText={setEmail}
          />
          {cancel && (
            <p>
              <button type="button" class="quiet" onClick={cancel}>
                {t('Cancel')}
              </button>
            </p>
          )}
        </>
      )}
    </Form>
  )
}

const Address = ({ address, pending_address }: Preferences['email']) => {
  const [isChanging, setChanging] = useState(false)
  const { act, failure } = useAction()
  const remove = async (): Promise<void> => {
    await unwrap(api.DELETE('/console/email'))
    announce(t('E-mail address removed.'))
    await reload()
  }
  if (isChanging || (address === null && pending_address === null))
    return <AddressForm cancel={isChanging ? () => setChanging(false) : undefined} />
  return (
    <>
      {pending_address !== null && <CodeForm address={pending_address} change={() => setChanging(true)} />}
      {address !== null && (
        <div class="actions">
          <span>{rich('E-mail goes to {address}.', { address: <Name>{address}</Name> })}</span>
          <button type="button" onClick={() => setChanging(true)}>
            {t('Change')}
          </button>
          <button type="button" onClick={() => void act(remove)}>
            {t('Remove')}
          </button>
        </div>
      )}
      {failure && <Problem failure={failure} />}
    </>
  )
}

const Ways = ({ messaging_app: { muted, off, muted_until }, email }: Preferences) => {
  const [isOff, setOff] = useState(email.off)
  const [isDigestOff, setDigestOff] = useState(email.digest_off)
  const [ways, setWays] = useState<ReadonlyMap<Kind, Way>>(
    new Map([
      ...email.at_once.map((kind) => [kind, 'at_once'] as const),
      ...email.digest.map((kind) => [kind, 'digest'] as const),
    ]),
  )
  const kindsBy = (way: Way): Kind[] => [...ways].filter(([, one]) => one === way).map(([kind]) => kind)
  const send = async (): Promise<void> => {
    await unwrap(
      api.PUT('/console/notifications/preferences', {
        body: {
          messaging_app: { muted, off, muted_until },
          email: { off: isOff, digest_off: isDigestOff, at_once: kindsBy('at_once'), digest: kindsBy('digest') },
        },
      }),
    )
    announce(t('Preferences saved.'))
    await reload()
  }
  return (
    <Form verb={t('Save')} send={send}>
      <label class="tick">
        <input type="checkbox" checked={isOff} onChange={(event) => setOff(event.currentTarget.checked)} />
        <span>{t('No e-mail from this workspace')}</span>
      </label>
      <label class="tick">
        <input
          type="checkbox"
          checked={!isDigestOff}
          onChange={(event) => setDigestOff(!event.currentTarget.checked)}
        />
        <span>{t('Send me a digest in the morning, from all workspaces, if there is news')}</span>
      </label>
      <fieldset disabled={isOff}>
        <legend>{t('How you get each kind')}</legend>
        <p class="hint">{t('“At once” waits 5 minutes, and sends nothing that you have seen by then.')}</p>
        <ul class="ways">
          {KINDS.map(([kind, label]) => (
            <li key={kind}>
              <label>
                <span>{label}</span>
                <select
                  value={ways.get(kind) ?? 'none'}
                  onChange={({ currentTarget: { value } }) =>
                    setWays((before) => new Map(before).set(kind, value as Way))
                  }
                >
                  <option value="at_once">{t('E-mail at once')}</option>
                  <option value="digest">{t('In the digest')}</option>
                  <option value="none">{t('Only in the console')}</option>
                </select>
              </label>
            </li>
          ))}
        </ul>
      </fieldset>
    </Form>
  )
}

/** E-mail about notifications: the person's address, and how each kind comes. */
export default function EmailPreferences({ preferences }: { preferences: Preferences }) {
  return (
    <>
      <Address {...preferences.email} />
      {preferences.email.address !== null && <Ways {...preferences} />}
    </>
  )
}
