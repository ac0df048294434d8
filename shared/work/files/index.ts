export { type ContentInput, decodeContent } from './content.ts'
export { agentFileOwner, createFile, storeFile } from './create.ts'
export { FileEntity, type FileRecord, FolderEntity, filesIn, type LooseObject, LooseObjectEntity } from './entity.ts'
export { createFolder } from './folders.ts'
export { handleOverdueLooseObject, removeLoose } from './loose.ts'
export { handleOverdueFile } from './overdue.ts'
export { listFiles, loadContent, loadDownload, readFile } from './read.ts'
export { deleteFile, releaseFileWrites } from './remove.ts'
export {
  CreatedFileOrFolderSchema,
  CreatedFileSchema,
  CreateFile,
  CreateFileOrFolder,
  contentFields,
  contentType,
  DownloadSchema,
  FileWithDownloadSchema,
  FOLDER_FITS,
  fileFilters,
  fileName,
  folderFits,
  ListedFileSchema,
} from './schemas.ts'
