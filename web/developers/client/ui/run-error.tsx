import { safeUrl } from '../../../session/text.ts'
import { t } from '../../../ui/messages.ts'
import { Prose } from '../../../ui/text.tsx'
import type { SandboxSchemas } from '../sandbox.ts'

/** Why a run failed, and how to fix it. */
export const RunError = ({
  run,
}: {
  run: Pick<SandboxSchemas['Run'], 'status' | 'error' | 'error_code' | 'error_message'>
}) =>
  run.status === 'failed' ? (
    <div class="problem">
      <p>
        <strong>{t('This run failed.')}</strong> {run.error_code && <code>{run.error_code}</code>}
      </p>
      {run.error_message && <Prose text={run.error_message} />}
      {run.error && (
        <p>
          {run.error.fix} <a href={safeUrl(run.error.docs_url)}>{t('About this error')}</a>
        </p>
      )}
    </div>
  ) : null
