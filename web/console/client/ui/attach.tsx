import { useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../../../session/failure.ts'
import { holdFocus } from '../../../ui/act.ts'
import { Icon } from '../../../ui/icons.tsx'
import { t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Name } from '../../../ui/text.tsx'

/** File that is attached to what the user writes. */
export interface AttachedFile {
  id: string
  name: string
}

/** Files to be sent, each with a button that removes it. */
export const Attached = ({
  files,
  onRemove,
}: {
  files: readonly AttachedFile[]
  onRemove: (rest: AttachedFile[]) => void
}) =>
  files.length === 0 ? null : (
    <ul class="tags" aria-label={t('Attached files')}>
      {files.map((file) => (
        <li key={file.id}>
          <Name>{file.name}</Name>{' '}
          <button
            type="button"
            class="quiet small"
            aria-label={t('Remove {name}', { name: file.name })}
            onClick={() => {
              holdFocus()()
              onRemove(files.filter(({ id }) => id !== file.id))
            }}
          >
            ✕
          </button>
        </li>
      ))}
    </ul>
  )

/** Uploads each file and reports it as soon as it is stored. */
const uploadAll = async (list: Iterable<File>, onFile: (file: AttachedFile) => void): Promise<void> => {
  const { upload } = await import('../upload.ts')
  for (const file of list) {
    const { id, name } = await upload(file)
    onFile({ id, name })
  }
}

export const AttachButton = ({
  label,
  onFile,
  failure,
  onFailure,
}: {
  /** Visible label; an icon alone if omitted. */
  label?: string
  onFile: (file: AttachedFile) => void
  failure: Failure | undefined
  onFailure: (failure: Failure | undefined) => void
}) => {
  const picker = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const attach = async (list: FileList | null): Promise<void> => {
    setBusy(true)
    onFailure(undefined)
    try {
      await uploadAll(list ?? [], onFile)
    } catch (error) {
      onFailure(toFailure(error))
    } finally {
      setBusy(false)
      if (picker.current) picker.current.value = ''
    }
  }
  return (
    <>
      {label && failure && <Problem failure={failure} />}
      <input ref={picker} type="file" multiple hidden onChange={(event) => void attach(event.currentTarget.files)} />
      <button
        type="button"
        aria-busy={busy}
        {...(!label && { 'aria-label': t('Attach files') })}
        onClick={() => picker.current?.click()}
      >
        <Icon name="attach" />
        {label && (busy ? t('Uploading…') : label)}
      </button>
    </>
  )
}
