import type { TypeDeclarations } from "../../schema/type-declarations.js";
import { fields } from "./fields.js";

const READ_ONLY = ["AzureFile", "CephFS", "Cinder", "CSI", "Flex", "Glusterfs", "ISCSI", "RBD", "ScaleIO", "StorageOS"];

/** The types of volumes, except the sources that volumes of pods share. */
export const volumeTypes: TypeDeclarations = {
  fields,
  rules: {
    atomicTypes: new Set(["SecretReference"]),
    quantityFields: new Set(["PersistentVolumeSpec.capacity"]),
    presentWhenZero: {
      "PersistentVolume.spec": {},
      "PersistentVolume.status": {},
      "CSIPersistentVolumeSource.driver": "",
      "CSIPersistentVolumeSource.volumeHandle": "",
      "LocalVolumeSource.path": "",
      "AzureFilePersistentVolumeSource.secretName": "",
      "AzureFilePersistentVolumeSource.shareName": "",
      "AzureFilePersistentVolumeSource.secretNamespace": null,
      "CephFSPersistentVolumeSource.monitors": null,
      "CinderPersistentVolumeSource.volumeID": "",
      "FlexPersistentVolumeSource.driver": "",
      "GlusterfsPersistentVolumeSource.endpoints": "",
      "GlusterfsPersistentVolumeSource.path": "",
      "ISCSIPersistentVolumeSource.targetPortal": "",
      "ISCSIPersistentVolumeSource.iqn": "",
      "ISCSIPersistentVolumeSource.lun": 0,
      "RBDPersistentVolumeSource.monitors": null,
      "RBDPersistentVolumeSource.image": "",
      "ScaleIOPersistentVolumeSource.gateway": "",
      "ScaleIOPersistentVolumeSource.system": "",
      "ScaleIOPersistentVolumeSource.secretRef": null,
    },
    dropsZero: new Set([
      ...READ_ONLY.map((source) => `${source}PersistentVolumeSource.readOnly`),
      "ISCSIPersistentVolumeSource.chapAuthDiscovery",
      "ISCSIPersistentVolumeSource.chapAuthSession",
      "ScaleIOPersistentVolumeSource.sslEnabled",
    ]),
    keepsEmptyString: new Set([
      "PersistentVolumeSpec.volumeAttributesClassName",
      "PersistentVolumeSpec.volumeMode",
      "AzureFilePersistentVolumeSource.secretNamespace",
      "GlusterfsPersistentVolumeSource.endpointsNamespace",
      "ISCSIPersistentVolumeSource.initiatorName",
      "LocalVolumeSource.fsType",
    ]),
    keepsEmptyCollection: new Set(["CephFSPersistentVolumeSource.monitors", "RBDPersistentVolumeSource.monitors"]),
  },
  fieldNumbers: {
    PersistentVolume: "metadata,spec,status",
    PersistentVolumeSpec:
      "capacity,~PersistentVolumeSource,accessModes,claimRef,persistentVolumeReclaimPolicy,storageClassName,mountOptions,volumeMode,nodeAffinity,volumeAttributesClassName",
    PersistentVolumeSource:
      "gcePersistentDisk,awsElasticBlockStore,hostPath,glusterfs,nfs,rbd,iscsi,cinder,cephfs,fc,flocker,flexVolume,azureFile,vsphereVolume,quobyte,azureDisk,photonPersistentDisk,portworxVolume,scaleIO,local,storageos,csi",
    PersistentVolumeStatus: "phase,message,reason,lastPhaseTransitionTime",
    AzureFilePersistentVolumeSource: "secretName,shareName,readOnly,secretNamespace",
    CephFSPersistentVolumeSource: "monitors,path,user,secretFile,secretRef,readOnly",
    CinderPersistentVolumeSource: "volumeID,fsType,readOnly,secretRef",
    CSIPersistentVolumeSource:
      "driver,volumeHandle,readOnly,fsType,volumeAttributes,controllerPublishSecretRef,nodeStageSecretRef,nodePublishSecretRef,controllerExpandSecretRef,nodeExpandSecretRef",
    FlexPersistentVolumeSource: "driver,fsType,secretRef,readOnly,options",
    GlusterfsPersistentVolumeSource: "endpoints,path,readOnly,endpointsNamespace",
    ISCSIPersistentVolumeSource:
      "targetPortal,iqn,lun,iscsiInterface,fsType,readOnly,portals,chapAuthDiscovery,secretRef,chapAuthSession,initiatorName",
    LocalVolumeSource: "path,fsType",
    VolumeNodeAffinity: "required",
    RBDPersistentVolumeSource: "monitors,image,fsType,pool,user,keyring,secretRef,readOnly",
    ScaleIOPersistentVolumeSource:
      "gateway,system,secretRef,sslEnabled,protectionDomain,storagePool,storageMode,volumeName,fsType,readOnly",
    StorageOSPersistentVolumeSource: "volumeName,volumeNamespace,fsType,readOnly,secretRef",
    SecretReference: "name,namespace",
  },
};
