import { useRef, useState } from 'preact/hooks'
import { holdFocus } from '../../../ui/act.ts'
import { bytes } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Name } from '../../../ui/text.tsx'
import { cancelUpload, resumeUpload, type Upload, type UploadState } from '../uploads.ts'

const TEXTS: Record<Exclude<UploadState, 'sending'>, string> = {
  queued: t('Waiting for its turn'),
  waiting: t('Waiting for the connection. The upload starts again by itself.'),
  interrupted: t('Interrupted by a reload. Choose the same file to continue.'),
  failed: t('Failed'),
}

const percent = ({ sent, size }: Upload): number => (size > 0 ? Math.min(100, Math.floor((sent / size) * 100)) : 0)

const stateOf = (one: Upload): string => {
  if (one.state !== 'sending') return TEXTS[one.state]
  return one.sent > 0 ? t('{one}% of {size}', { one: percent(one), size: bytes(one.size) }) : t('Uploading…')
}

const Entry = ({ one }: { one: Upload }) => {
  const picker = useRef<HTMLInputElement>(null)
  const [other, setOther] = useState(false)
  const { state, failure, name } = one
  const active = state === 'sending' || state === 'waiting' || state === 'queued'
  return (
    <li class="upload">
      <div class="upload-line">
        <strong class="line">
          <Name>{name}</Name>
        </strong>
        <span class="actions">
          {state === 'interrupted' && (
            <>
              <input
                ref={picker}
                type="file"
                hidden
                aria-label={t('Choose {name} again', { name })}
                onChange={({ currentTarget }) => {
                  const [file] = currentTarget.files ?? []
                  if (file) setOther(!resumeUpload(one, file))
                  currentTarget.value = ''
                }}
              />
              <button type="button" class="small" onClick={() => picker.current?.click()}>
                {rich('Choose file{name}', { name: <span class="unseen"> {name}</span> })}
              </button>
            </>
          )}
          {state === 'failed' && (
            <button type="button" class="small" onClick={() => resumeUpload(one)}>
              {rich('Try again{name}', { name: <span class="unseen"> {name}</span> })}
            </button>
          )}
          <button type="button" class="quiet small" onClick={() => void cancelUpload(one).finally(holdFocus())}>
            {active ? t('Cancel') : t('Remove')}
            <span class="unseen"> {name}</span>
          </button>
        </span>
      </div>
      {active && <progress max={100} value={percent(one)} aria-label={t('Upload of {name}', { name })} />}
      <p class="soft">{stateOf(one)}</p>
      {other && (
        <p class="wrong" role="alert">
          {t('That’s another file. Choose the one with the same name, size and date.')}
        </p>
      )}
      {failure && state === 'failed' && <Problem failure={failure} />}
    </li>
  )
}

/** Uploads in progress, and those that need the user. */
export const Uploads = ({ items }: { items: readonly Upload[] }) =>
  items.length === 0 ? null : (
    <section class="card uploads" aria-labelledby="uploads">
      <h2 id="uploads">{t('Uploads')}</h2>
      <ul>
        {items.map((one) => (
          <Entry key={one.key} one={one} />
        ))}
      </ul>
    </section>
  )
