import { useState } from 'preact/hooks'
import { TextField } from '../../ui/form.tsx'
import { t } from '../../ui/messages.ts'
import { Problem } from '../../ui/problem.tsx'
import { declineInvitation, join } from './account.ts'
import { useSending } from './sending.ts'

/** Accepts an invitation to a developer account. @param code of the link */
export const Join = ({ code }: { code: string }) => {
  const [name, setName] = useState('')
  const { busy, failure, send } = useSending(() => join(code, name.trim()))
  return (
    <form onSubmit={send}>
      <p>{t('Somebody invited you to their developer account. The e-mail says who, and with which role.')}</p>
      <TextField
        label={t('Your name')}
        hint={t('Your teammates see it.')}
        value={name}
        required
        maxLength={100}
        autocomplete="name"
        onText={setName}
      />
      {failure && <Problem failure={failure} />}
      <div class="actions">
        <button type="submit" class="primary" aria-busy={busy}>
          {t('Join')}
        </button>
        <button type="button" onClick={declineInvitation}>
          {t('Not now')}
        </button>
      </div>
    </form>
  )
}
