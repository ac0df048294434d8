import { useState } from 'preact/hooks'
import { announce } from '../../../ui/announce.tsx'
import { Modal } from '../../../ui/dialog.tsx'
import { Field, Form, TextField } from '../../../ui/form.tsx'
import { t } from '../../../ui/messages.ts'
import { fieldProblems } from '../../../ui/problem.tsx'
import { api, type Schemas, unwrap } from '../api.ts'

type Category = NonNullable<Schemas['ReportAbuse']['category']>

const CATEGORIES: Readonly<Record<Category, string>> = {
  malicious: t('Malicious'),
  misleading: t('Misleading'),
  data_misuse: t('Data misuse'),
  inappropriate: t('Inappropriate'),
  spam: t('Spam'),
  other: t('Other'),
}

/** A form for reporting an agent to the platform's admins. */
export const ReportAbuse = ({ appId }: { appId: string }) => {
  const [open, setOpen] = useState(false)
  const [category, setCategory] = useState<Category>('other')
  const [text, setText] = useState('')
  const send = async (): Promise<void> => {
    await unwrap(api.POST('/console/abuse-reports', { body: { app_id: appId, category, text: text.trim() } }))
    announce(t('Thank you. Platform staff will review your report.'))
    setText('')
  }
  return (
    <>
      <button type="button" class="quiet" onClick={() => setOpen(true)}>
        {t('Report this agent')}
      </button>
      {open && (
        <Modal title={t('Report this agent')} onClose={() => setOpen(false)}>
          <Form verb={t('Send report')} send={send} done={() => setOpen(false)}>
            {(failure) => (
              <>
                <p class="hint">{t('Only platform staff can read your report. The agent’s developer can’t.')}</p>
                <Field label={t('Reason')}>
                  {(field) => (
                    <select
                      {...field}
                      value={category}
                      onChange={(event) => setCategory(event.currentTarget.value as Category)}
                    >
                      {Object.entries(CATEGORIES).map(([name, words]) => (
                        <option key={name} value={name}>
                          {words}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
                <TextField
                  label={t('What happened?')}
                  problem={fieldProblems(failure).text}
                  rows={4}
                  required
                  maxLength={4000}
                  value={text}
                  onText={setText}
                />
              </>
            )}
          </Form>
        </Modal>
      )}
    </>
  )
}
