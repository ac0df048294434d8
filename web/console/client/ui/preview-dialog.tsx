import { Modal } from '../../../ui/dialog.tsx'
import { bytes } from '../../../ui/format.ts'
import { Name } from '../../../ui/text.tsx'
import { Download } from './download.tsx'
import { Preview, type PreviewedFile } from './preview.tsx'

/** The content of a file that is attached to something. */
export const PreviewDialog = ({ file, onClose }: { file: PreviewedFile; onClose: () => void }) => (
  <Modal title={file.name} onClose={onClose}>
    <p class="soft">
      {bytes(file.size)} · <Name>{file.content_type}</Name>
    </p>
    <Preview file={file} />
    <div class="actions">
      <Download id={file.id} name={file.name} as="button" />
    </div>
  </Modal>
)
