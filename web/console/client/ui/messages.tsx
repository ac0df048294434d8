import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { Boundary } from '../../../ui/boundary.tsx'
import { bytes } from '../../../ui/format.ts'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Name, When } from '../../../ui/text.tsx'
import { identity } from '../account.ts'
import type { Schemas } from '../api.ts'
import { Download } from './download.tsx'
import { Markdown } from './markdown.tsx'
import { previewKind } from './preview-kind.ts'

export type Message = Schemas['Message']

const QuestionsInChat = part(async () => ({ default: (await import('./questions.tsx')).QuestionsInChat }))

type Dialog = typeof import('./preview-dialog.tsx').PreviewDialog

/** Opens the content of an attached file. The script of the dialog loads with the first press. */
const PreviewButton = ({ file }: { file: Message['attachments'][number] }) => {
  const [dialog, setDialog] = useState<{ Dialog: Dialog }>()
  const { busy, act } = useAction()
  const open = async (): Promise<void> => {
    const ok = await act(async () => setDialog({ Dialog: (await import('./preview-dialog.tsx')).PreviewDialog }))
    if (!ok) announce(t('The preview couldn’t be loaded. Reload the page and try again.'))
  }
  return (
    <>
      <button type="button" class="quiet small" aria-busy={busy} onClick={open}>
        {rich('Preview{name}', { name: <span class="unseen"> {file.name}</span> })}
      </button>
      {dialog && <dialog.Dialog file={{ ...file, id: file.file_id }} onClose={() => setDialog(undefined)} />}
    </>
  )
}

/** Files that are attached to a message or a task. */
export const FileList = ({ files }: { files: Message['attachments'] }) =>
  files.length === 0 ? null : (
    <ul class="tags">
      {files.map((file) => (
        <li key={file.file_id}>
          <Download id={file.file_id} name={file.name} /> <span class="soft">{bytes(file.size)}</span>
          {previewKind(file) && <PreviewButton file={file} />}
        </li>
      ))}
    </ul>
  )

/** Messages, oldest first. @param after what stands below a message, such as what to do about it */
export const Messages = ({
  items,
  after,
}: {
  items: readonly Message[]
  after?: (message: Message) => ComponentChildren
}) => (
  <ol class="messages">
    {items.map((message) => {
      const mine = message.author.type === 'user' && message.author.id === identity.value?.user.id
      return (
        <li
          key={message.id}
          id={`message-${message.id}`}
          class={mine ? 'message mine' : 'message'}
          // Links to a message focus it.
          tabIndex={-1}
        >
          <p class="by">
            <b>{mine ? t('You') : <Name>{message.author.name}</Name>}</b>
            <When at={message.created_at} />
          </p>
          {message.error_code === 'run_cancelled' ? (
            <span class="state">{t('Stopped')}</span>
          ) : (
            message.error_code && <span class="state bad">{t('✕ No reply')}</span>
          )}
          {message.question && message.run_id ? (
            <Boundary kind="text" about={message} text={() => message.text}>
              <QuestionsInChat runId={message.run_id} stepId={message.question.step_id} text={message.text} />
            </Boundary>
          ) : (
            <Markdown text={message.text} />
          )}
          <FileList files={message.attachments} />
          {message.mention && (
            <p class="soft mentioned">{rich('For {name}', { name: <Name>{message.mention.name}</Name> })}</p>
          )}
          {message.approval && message.run_id && (
            <p>
              <a class="button" href={`#/runs/${message.run_id}`}>
                {t('Review request')}
              </a>
            </p>
          )}
          {after?.(message)}
        </li>
      )
    })}
  </ol>
)
