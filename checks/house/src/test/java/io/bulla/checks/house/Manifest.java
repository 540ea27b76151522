// SPDX-License-Identifier: Apache-2.0
package io.bulla.checks.house;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.type.LogicalType;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// The resources of a manifest, read as strictly as a cluster's API server reads them: a field that the resource does
/// not have, or a value of another type, is refused with its path.
record Manifest(List<HasMetadata> resources) {

    private static final Map<String, Class<? extends HasMetadata>> KINDS = Map.of(
            "v1 Service", Service.class,
            "v1 PersistentVolumeClaim", PersistentVolumeClaim.class,
            "policy/v1 PodDisruptionBudget", PodDisruptionBudget.class,
            "apps/v1 StatefulSet", StatefulSet.class);

    private static final ObjectMapper STRICT = strict();

    private static ObjectMapper strict() {
        ObjectMapper mapper = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .enable(DeserializationFeature.FAIL_ON_IGNORED_PROPERTIES)
                .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
                .annotationIntrospector(new JacksonAnnotationIntrospector() {
                    // the model keeps fields that it does not know; here nothing takes them
                    @Override
                    public Boolean hasAnySetter(Annotated method) {
                        return false;
                    }
                })
                .build();
        for (CoercionInputShape shape :
                List.of(CoercionInputShape.Integer, CoercionInputShape.Float, CoercionInputShape.Boolean)) {
            mapper.coercionConfigFor(LogicalType.Textual).setCoercion(shape, CoercionAction.Fail);
        }
        return mapper;
    }

    /// @throws IllegalArgumentException that names the resource and the path of the first wrong field
    static Manifest of(String text) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        List<HasMetadata> resources = new ArrayList<>();
        for (Object document : new Yaml(new SafeConstructor(options)).loadAll(text)) {
            resources.add(resource((Map<?, ?>) document));
        }
        return new Manifest(resources);
    }

    private static HasMetadata resource(Map<?, ?> document) {
        String kind = document.get("apiVersion") + " " + document.get("kind");
        Class<? extends HasMetadata> type = KINDS.get(kind);
        if (type == null) {
            throw new IllegalArgumentException("unknown kind: " + kind);
        }
        try {
            return STRICT.convertValue(document, type);
        } catch (IllegalArgumentException wrong) {
            throw wrong.getCause() instanceof JsonMappingException field
                    ? new IllegalArgumentException(
                            document.get("kind") + " " + path(field) + ": "
                                    + field.getOriginalMessage().replaceAll(" \\(.*", ""),
                            wrong)
                    : wrong;
        }
    }

    private static String path(JsonMappingException field) {
        return field.getPath().stream()
                .map(each -> each.getFieldName() != null ? "." + each.getFieldName() : "[" + each.getIndex() + "]")
                .collect(Collectors.joining())
                .substring(1);
    }

    /// The only one of its kind.
    <T extends HasMetadata> T the(Class<T> type) {
        List<T> found =
                resources.stream().filter(type::isInstance).map(type::cast).toList();
        if (found.size() != 1) {
            throw new IllegalArgumentException("not one " + type.getSimpleName() + ": " + found.size());
        }
        return found.getFirst();
    }
}
