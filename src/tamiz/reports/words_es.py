"""The words of the report in Spanish; see ``words_en`` for how they are written."""

from __future__ import annotations

WORDS: dict[str, str] = {
    # ---------------------------------------------------------------------------- the page
    "title": "Selección de características: {name}",
    "title_tuning": "Parámetros de una máquina: {name}",
    "a_table": "una tabla",
    "made": "hecho con tamiz {version}",
    "contents": "Contenido",
    "skip": "Saltar al informe",
    "footer": "Este archivo contiene todo lo que muestra y no pide nada a la red.",
    "theme": "Colores",
    "theme_auto": "Colores: los del sistema",
    "theme_light": "Colores: claros",
    "theme_dark": "Colores: oscuros",
    "keys": "Gráfico. Las flechas del teclado leen sus valores.",
    "section_summary": "Resumen",
    "section_data": "Los datos",
    "section_ranking": "Orden de todas las características",
    "section_features": "Las características seleccionadas",
    "section_curves": "Error según el número de características",
    "section_bias": "Error honesto y error aparente",
    "section_signal": "¿Hay señal?",
    "section_stability": "Estabilidad de la selección",
    "section_card": "Calidad de las predicciones",
    "section_tuning": "Parámetros de la máquina",
    "section_methods": "¿Difieren los métodos?",
    "section_repeat": "Cómo repetirlo",
    "section_glossary": "Glosario",
    # ------------------------------------------------------------------------ common words
    "no_name": "(sin nombre)",
    "quoted": "«{name}»",
    "and_more": "{names} y {n} más",
    "between": "{low} a {high}",
    "points": "{n} puntos",
    "points_short": "{n} ptos.",
    "count_feature_one": "{n} característica",
    "count_feature_many": "{n} características",
    "count_row_one": "{n} fila",
    "count_row_many": "{n} filas",
    "count_class_one": "{n} clase",
    "count_class_many": "{n} clases",
    "count_column_one": "{n} columna",
    "count_column_many": "{n} columnas",
    "rows": "Filas",
    "features": "Características",
    "feature": "Característica",
    "target": "Objetivo",
    "class": "Clase",
    "column": "Columna",
    "reason": "Motivo",
    "method": "Método",
    "judge": "Juez",
    "size": "Número",
    "honest": "Error honesto",
    "apparent": "Error aparente",
    "apparent_short": "aparente {error}",
    "interval": "Intervalo",
    "interval_of": "Intervalo del {level}",
    "selection_bias": "Sesgo de selección",
    "stability": "Estabilidad",
    "signal": "Señal",
    "rank": "Puesto",
    "score": "Puntuación",
    "pvalue": "Valor p",
    "seconds": "Tiempo de selección",
    "median": "Mediana",
    "middle_half": "Mitad central",
    "value": "Valor",
    "n_features": "Número de características",
    "metric_error": "Error",
    "metric_score": "Puntuación",
    "metric_accuracy": "Exactitud",
    "metric_balanced_accuracy": "Exactitud equilibrada",
    "metric_1 − balanced_accuracy": "Error equilibrado",
    "metric_1 − roc_auc": "1 − área bajo la curva ROC",
    "metric_1 − f1": "1 − F1",
    "metric_mean squared error": "Error cuadrático medio",
    "metric_mean absolute error": "Error absoluto medio",
    "metric_root mean squared error": "Raíz del error cuadrático medio",
    "baseline_random": "orden al azar",
    "baseline_all": "todas las características",
    "role_numeric": "numéricas",
    "role_categorical": "categóricas",
    "role_id": "identificador",
    "role_text": "texto libre",
    "role_date": "fecha",
    "role_constant": "constantes",
    "role_empty": "vacías",
    "role_duplicate": "repetidas",
    "role_leak": "que delatan el objetivo",
    "role_ignore": "excluidas",
    "task_classification": "clasificación",
    "task_regression": "regresión",
    # ----------------------------------------------------------------------------- summary
    "question_classes": (
        "De {features}, ¿cuáles distinguen las {classes} de «{target}»? Estudiado con {rows}."
    ),
    "question_numbers": "De {features}, ¿cuáles predicen «{target}»? Estudiado con {rows}.",
    "question_none": "De {features}, ¿cuáles importan? Estudiado con {rows}, sin objetivo.",
    "question_tuning": (
        "¿Con qué parámetros predice mejor una máquina «{target}» a partir de {features}? "
        "Estudiado con {rows}."
    ),
    "ranked_all": "El orden y sus puntuaciones salen de la tabla entera ({rows}).",
    "ranked_cuts": (
        "El orden y sus puntuaciones salen de la tabla entera ({rows}), salvo los límites de los "
        "intervalos, que salen de una muestra: véanse las notas."
    ),
    "ranked_sample": (
        "De las {rows}, el método {method} mira una muestra, de la que salen el orden y sus "
        "puntuaciones: véanse las notas."
    ),
    "sample_lede": (
        "Las figuras de columnas se basan en {sample} de las filas, una muestra al azar en la que "
        "cada fila tuvo la misma probabilidad[[ (semilla {seed})]]."
    ),
    "sample_classes": "Así, cada clase tiene en la muestra su parte aproximada, no exacta.",
    "tile_error": "Error que cabe esperar con datos nuevos",
    "tile_interval": "intervalo del {level}: {between}",
    "tile_features": "Características recomendadas",
    "tile_of": "de {n}",
    "tile_promised": "una estimación ingenua prometería {error}",
    "tile_ranked": "Características ordenadas",
    "tile_tuned": "Error de validación cruzada",
    "tile_cells": "la combinación elegida entre {n}",
    "agreement_poor": "concordancia pobre",
    "agreement_fair": "concordancia aceptable",
    "agreement_good": "concordancia buena",
    "signal_yes": "más que azar",
    "signal_no": "no más que azar",
    "advice": "Recomendación: estas {n}, la mejor primero, en el orden de {method}.",
    "advice_one": "Recomendación: {n}, la primera en el orden de {method}.",
    "advice_ranking": "El método {method} selecciona {n}, la mejor primero:",
    "more_names": "{n} más",
    "expect_share": (
        "Con datos nuevos del mismo tipo cabe esperar un error de alrededor de {error}[[, "
        "{one_in}]]. [[El intervalo del {level} va de {between}. ]]Se midió con el juez {judge} "
        "en muestras que no intervinieron en la selección.[[ El método se eligió entre "
        "{n_methods} por estos mismos errores, lo que los hace un poco optimistas.]]"
    ),
    "expect_number": (
        "Con datos nuevos del mismo tipo cabe esperar un error ({metric}) de alrededor de "
        "{error}. [[El intervalo del {level} va de {between}. ]]Se midió con el juez {judge} en "
        "muestras que no intervinieron en la selección.[[ El método se eligió entre {n_methods} "
        "por estos mismos errores, lo que los hace un poco optimistas.]]"
    ),
    "one_in": "aproximadamente un caso de cada {n}",
    "no_error_seen": (
        "No se observó ningún error, pero eso no garantiza que no los haya: con {rows} muestras, "
        "un error de hasta {bound} pasaría inadvertido con demasiada frecuencia para descartarlo "
        "con una confianza del {level}."
    ),
    "majority_beaten": (
        "Responder siempre la clase mayor tendría un error de {error}; todo el intervalo queda "
        "por debajo."
    ),
    "majority_not_beaten": (
        "Responder siempre la clase mayor tendría un error de {error}; el intervalo llega hasta "
        "ahí, de modo que la ventaja no es segura."
    ),
    "promised_less": (
        "Si las características se hubieran seleccionado con todos los datos antes de medir el "
        "error, el mismo método habría prometido {apparent}: {bias} de más optimismo. Esa "
        "diferencia es el sesgo de selección."
    ),
    "promised_more": (
        "Si las características se hubieran seleccionado con todos los datos antes de medir el "
        "error, el mismo método habría prometido {apparent}, {bias} más que el error honesto: "
        "aquí no hay indicio de sesgo de selección."
    ),
    "promised_same": (
        "Si las características se hubieran seleccionado con todos los datos antes de medir el "
        "error, el mismo método habría prometido {apparent}, es decir, lo mismo: aquí no hay "
        "sesgo de selección."
    ),
    "shuffled_signal": (
        "Hay señal: con las etiquetas barajadas, {n} de {all} intentos dieron un resultado igual "
        "de bueno ({p})."
    ),
    "shuffled_no_signal": (
        "No hay una señal clara: con las etiquetas barajadas, {n} de {all} intentos dieron un "
        "resultado igual de bueno ({p})."
    ),
    "repeatable_poor": (
        "Otra muestra daría probablemente características bastante distintas (estabilidad "
        "{index}; 1 es perfecta): otras pueden servir igual de bien."
    ),
    "repeatable_fair": (
        "Otra muestra daría en parte las mismas características (estabilidad {index}; 1 es "
        "perfecta)."
    ),
    "repeatable_good": (
        "Otra muestra daría casi las mismas características (estabilidad {index}; 1 es perfecta)."
    ),
    "no_comparison": (
        "Las características se ordenaron, pero no se midió ningún error: este informe no dice "
        "cuánto aciertan."
    ),
    "only_tuned": (
        "Se eligieron parámetros, no características. El error de la combinación elegida es el que "
        "mejor pareció entre muchos, y por eso algo optimista: para decir qué hará la máquina con "
        "datos nuevos, reserve muestras que no intervengan en la elección."
    ),
    "cut_short": (
        "La comparación se interrumpió: se hicieron {done} de sus {all} partes, y todas las medias "
        "son sobre esas."
    ),
    "why": "Por qué estas",
    "reason_least_error": "{method} tiene el menor error honesto de todos los métodos: {error}.",
    "reason_fewest_within_interval": (
        "{method} necesita pocas características ({size})[[, y su error, {error}, no se "
        "distingue del menor, {best_error} de {best_method}]][[ con {best_size}]]."
    ),
    "reason_steadier": (
        "Las selecciones de {method} coinciden más de una partición a otra que las de "
        "{best_method}, y su error, {error}, no se distingue del menor, {best_error}."
    ),
    "reason_stable": "La selección es estable[[: índice {nogueira}]].",
    "reason_fairly_stable": "La selección es bastante estable[[: índice {nogueira}]].",
    "reason_fragile": (
        "La selección es frágil[[: índice {nogueira}]]. Conviene no interpretar características "
        "sueltas."
    ),
    "reason_all_features_better": (
        "Con todas las características el error es claramente menor, {error}: estas solo "
        "convienen si usar menos compensa."
    ),
    "reason_not_worse_than_all": "No yerra más que todas las características juntas, {error}.",
    "reason_near_all": "Con todas las características el error es {error}, dentro del intervalo.",
    "reason_not_better_than_all": "No es mejor que todas las características juntas, {error}.",
    "reason_no_better_than_random": (
        "Las características en orden al azar dan casi lo mismo, {error}: importa más cuántas "
        "son que cuáles son."
    ),
    "reason_no_signal": (
        "El intervalo alcanza el error de responder siempre la clase mayor[[, "
        "{majority_error}]]: es posible que los datos no tengan señal."
    ),
    "reason_selection_bias": (
        "Ordenar con todos los datos habría prometido {apparent}: la diferencia es {bias}."
    ),
    # -------------------------------------------------------------------------------- data
    "data_name": "Nombre",
    "data_source": "Origen",
    "sample": "Muestra",
    "sample_of": (
        "{n} ({share}), al azar, para las figuras de columnas; los números de esta sección son de "
        "todas las filas, salvo que digan otra cosa"
    ),
    "indicators": "Indicadoras",
    "indicators_of": "{n} de las características representan niveles de {columns}, como «{name}»",
    "missing_cells": "Celdas ausentes",
    "warnings": "Conviene saber",
    "no_warnings": "No se encontró nada llamativo en las columnas.",
    "in_sample": "En la muestra de {n}, lo que no tiene por qué valer para todas las filas:",
    "looked_sample": (
        "Las columnas que repiten otra, dan el objetivo o quizá son identificadores se buscaron "
        "solo en la muestra[[, entre {among}]]."
    ),
    "looked_among": (
        "Las columnas que repiten otra, dan el objetivo o quizá son identificadores se buscaron "
        "solo entre {among}, las de las características que se muestran abajo."
    ),
    "warn_leak": (
        "Da el objetivo sin error: {n}: {names}. Compruebe que se conoce antes que el objetivo."
    ),
    "warn_constant": "Sin información por ser constante: {n}: {names}.",
    "warn_duplicate": "Repite otra columna: {n}: {names}.",
    "warn_empty": "Sin ningún valor, apartada: {n}: {names}.",
    "warn_empty_kept": "Sin ningún valor: {n}: {names}.",
    "warn_id": "Parece un identificador, apartada: {n}: {names}.",
    "warn_text": "Texto libre, apartada: {n}: {names}.",
    "warn_date": "Fechas u horas, apartada: {n}: {names}.",
    "warn_doubtful": (
        "Quizá identificadores ({n}): {names}. Lo dice el nombre, y casi ningún valor se "
        "repite; si lo son, déjelos fuera."
    ),
    "warn_small_class": "La clase «{name}» solo tiene {n}: lo que se diga de ella es muy incierto.",
    "warn_unbalanced": (
        "Las clases están lejos del equilibrio: «{name}» tiene el {share} de las filas. Fíjese "
        "en la sensibilidad y la exactitud equilibrada más que en el error."
    ),
    "warn_wide": (
        "Hay muchas más características ({features}) que filas ({rows}): algunas parecerán "
        "buenas por puro azar, y el sesgo de selección es grande."
    ),
    "classes_title": "Filas de cada clase",
    "classes_finding": "La clase mayor es «{name}», con el {share} de las filas.",
    "gaps_title": "Columnas con valores ausentes",
    "gaps_finding": "{n} con huecos, sobre todo «{name}», a la que le falta el {share}.",
    "aside_caption": "Apartadas: {n}",
    "aside_id": "un identificador: un valor propio en casi cada fila",
    "aside_text": "texto libre",
    "aside_date": "fechas u horas",
    "aside_empty": "ningún valor en ninguna fila",
    "aside_ignore": "excluida a petición",
    "notes": "Notas del programa, en inglés ({n})",
    # ----------------------------------------------------------------------------- ranking
    "ranking_intro": (
        "Todas las características en el orden de {method}, calculado con todos los datos, junto "
        "al puesto que les dan los otros métodos."
    ),
    "ranking_intro_alone": (
        "Todas las características en el orden de {method}, calculado con todos los datos."
    ),
    "ranking_intro_sample": (
        "Todas las características en el orden de {method}, que miró una muestra de las filas."
    ),
    "ranking_how": "Pulse un encabezado para ordenar.",
    "ranking_caption": "Orden según {method}",
    "recommended_short": "Elegida",
    "rank_by": "Puesto {method}",
    "frequency": "En particiones",
    "kind": "Tipo",
    "missing": "Ausentes",
    "search": "Buscar características",
    "only_selected": "solo las elegidas",
    "rows_per_page": "Filas",
    "save_csv": "Guardar como CSV",
    "previous": "Anterior",
    "next": "Siguiente",
    "js_showing": "%1–%2 de %3",
    "js_none": "Ninguna característica coincide.",
    "js_yes": "sí",
    "js_no": "–",
    # ---------------------------------------------------------------------------- features
    "features_intro": (
        "Dónde están los valores de cada característica seleccionada, por clase: una curva con "
        "la mediana como línea vertical, o barras con la parte de la clase que tiene cada "
        "valor. Cuanto más separadas las clases, más dice la característica por sí sola; "
        "algunas solo dicen algo junto con otras."
    ),
    "features_intro_numbers": (
        "El objetivo frente a cada característica seleccionada, un punto por fila."
    ),
    "sample_shown": "Las figuras se basan en una muestra al azar de {n} de las {rows}.",
    "features_intro_points": (
        "El objetivo frente a cada característica seleccionada, con {n} puntos: filas tomadas al "
        "azar[[ de las {sample} de la muestra]]."
    ),
    "features_first": "Se muestran las primeras {n} de {all}.",
    "classes_absent": "Ninguna fila de la muestra es de estas clases: {names}.",
    "largest_classes": "Se dibujan las {n} clases mayores.",
    "more_features": "{n} más",
    "n_missing": "{n} ausentes",
    "n_missing_all": "{n} ausentes en todas las filas",
    "rows_sample": "Filas de la muestra",
    "finding_sample": "En la muestra: {finding}",
    "no_values": "sin valores",
    "all_rows": "todas las filas",
    "other_levels": "otros {n} valores",
    "medians_finding": "Medianas: {medians}.",
    "levels_finding": "Valor más frecuente: {levels}.",
    "correlation_finding": "Correlación con el objetivo {r}.",
    # ------------------------------------------------------------------------------ errors
    "curves_intro": (
        "Línea continua: error honesto, con las características ordenadas dentro de la parte de "
        "entrenamiento de cada partición, y su intervalo como banda. Línea de trazos: error "
        "aparente, con las características ordenadas con todos los datos, incluidas las muestras "
        "de prueba."
    ),
    "curves_title": "{metric} según el número de características, juez {judge}",
    "curves_finding": (
        "{method} pasa de {first} con {first_size} a su menor error, {error}, con {size} "
        "características."
    ),
    "curves_gap": "El error aparente llega a ser {gap} demasiado optimista.",
    "curves_caption": "Error honesto según el número de características, juez {judge}",
    "as_table_judge": "Los números en una tabla ({judge})",
    "judge_is": "Juez {judge}",
    "recommended_size": "recomendado",
    "bias_intro": (
        "La marca llena es el error honesto con su intervalo; la hueca, lo que el mismo método "
        "parece lograr si sus características se seleccionan antes con todos los datos. La "
        "distancia entre ambas es el sesgo de selección."
    ),
    "bias_title": "Error aparente y error honesto de cada método",
    "bias_finding": (
        "La distancia mayor es la de {method}: parece errar {apparent} y honestamente yerra "
        "{error}, un sesgo de selección de {bias}."
    ),
    "bias_none": (
        "Ningún método parece mejor cuando sus características se seleccionan antes con todos "
        "los datos."
    ),
    "majority_mark": "clase mayor",
    "own_size": "{method} (número propio)",
    "methods_caption": "Todos los métodos; el número es el de características",
    "sizes_in_splits": "Número en particiones",
    # ------------------------------------------------------------------------------ signal
    "shuffles_intro": (
        "Si las características no tuvieran nada que ver con el objetivo, las etiquetas reales "
        "no darían mejor resultado que unas barajadas. Todo, incluida la selección, se repitió "
        "con etiquetas barajadas."
    ),
    "shuffles_title": "Resultado con las etiquetas reales y con etiquetas barajadas",
    "shuffles_finding_yes": (
        "Las etiquetas reales alcanzan {score}; las barajadas, {middle} de mediana; {n} de {all} "
        "barajas dieron un resultado igual de bueno ({p})."
    ),
    "shuffles_finding_no": (
        "Las etiquetas reales alcanzan {score}; las barajadas, {middle} de mediana; {n} de {all} "
        "barajas dieron un resultado igual de bueno ({p}), lo que no es prueba de señal."
    ),
    "shuffles_axis": "Barajas",
    "shuffled": "barajas",
    "observed_score": "etiquetas reales: {score}",
    # --------------------------------------------------------------------------- stability
    "stability_intro": (
        "Cada partición selecciona a partir de muestras algo distintas. El índice de Nogueira "
        "vale 1 si todas las selecciones son iguales y cerca de 0 si no se parecen más que unas "
        "hechas al azar."
    ),
    "stability_title": "Estabilidad de cada método",
    "stability_finding": (
        "{method} tiene un índice de {index}: {words}. El método más estable es {best}, con "
        "{best_index}."
    ),
    "stability_undefined": "El índice no está definido para estas selecciones.",
    "nogueira": "Índice de Nogueira",
    "kuncheva": "Índice de Kuncheva",
    "jaccard": "Índice de Jaccard",
    "selections": "Selecciones",
    "mark_poor": "aceptable desde",
    "mark_good": "buena desde",
    "map_title": "Lo que {method} selecciona más a menudo, por particiones: {n}",
    "map_finding": "En las {n} particiones: {always}; en al menos una: {ever}.",
    "selected_in": "seleccionada en {n} de {all} particiones ({share})",
    "splits_axis": "{n} particiones, una columna cada una",
    "frequency_caption": "Con qué frecuencia las selecciona cada método",
    # -------------------------------------------------------------------------------- card
    "card_intro": (
        "Cada muestra fue predicha una vez por una máquina que no la había visto, tampoco al "
        "seleccionar."
    ),
    "positive_class": "La clase positiva es «{name}».",
    "confusion_caption": (
        "Matriz de confusión: las filas son las clases reales; los porcentajes, de la fila"
    ),
    "true_predicted": "Real \\ predicha",
    "is_class": "{name}",
    "predicted_class": "{name}",
    "card_caption": "Calificaciones",
    "measure": "Medida",
    "meaning": "Significado",
    "per_class": "Cada clase frente a las demás",
    "per_class_caption": "Medidas de cada clase",
    "score_sensitivity": "Sensibilidad",
    "score_specificity": "Especificidad",
    "score_precision": "Precisión",
    "score_accuracy": "Exactitud",
    "score_balanced_accuracy": "Exactitud equilibrada",
    "score_f1": "F1",
    "score_macro_f1": "F1 media",
    "score_mcc": "Correlación de Matthews",
    "score_roc_area": "Área bajo la curva ROC",
    "score_macro_precision": "Precisión media",
    "means_sensitivity": "parte de los casos positivos que se encuentra",
    "means_specificity": "parte de los casos negativos que se deja en paz",
    "means_precision": "parte de los llamados positivos que lo es",
    "means_accuracy": "parte de respuestas acertadas",
    "means_balanced_accuracy": "parte encontrada, promedio de las clases",
    "means_f1": "media armónica de precisión y sensibilidad",
    "means_macro_f1": "promedio de F1 en las clases",
    "means_mcc": "−1 todo mal, 0 azar, 1 todo bien",
    "means_roc_area": "probabilidad de que un caso positivo puntúe más que uno negativo",
    "means_macro_precision": "promedio de la precisión en las clases",
    "roc_title": "Curva ROC",
    "roc_finding": "El área bajo la curva es {area}; 0,5 sería azar y 1 perfecto.",
    "roc_finding_plain": "Cuanto más por encima de la diagonal, mejor.",
    "true_positives": "Encontrados entre los positivos",
    "false_positives": "Falsas alarmas entre los negativos",
    "at_false_positives": "con {share} de falsas alarmas",
    # ------------------------------------------------------------------------------ tuning
    "tuning_intro": "Elegido: {params}, con un error de validación cruzada de {error}.",
    "tuning_title": "{metric} según los parámetros: cuanto más intenso el color, menor",
    "tuning_finding": (
        "Los errores van de {low} a {high}; {n} de {all} celdas están a menos de un error "
        "estándar del menor. El anillo marca la celda elegida."
    ),
    "tuning_caption": "Las mejores combinaciones",
    "chosen_cell": "elegida",
    "deviation": "Desviación estándar",
    # ----------------------------------------------------------------------------- methods
    "ranks_intro": (
        "Prueba de la hipótesis de que todos los métodos son iguales: {test}, con {n} ensayos, {p}."
    ),
    "ranks_title": (
        "Puesto medio de los métodos: 1 es el mejor; las barras unen los que no difieren"
    ),
    "ranks_none": "Ninguno de los {n} pares de métodos difiere más allá del azar.",
    "ranks_some": (
        "{n} de {all} pares de métodos difieren más allá del azar, como {first} y {second}."
    ),
    "test_corrected t": "t corregida para remuestreo (Nadeau y Bengio)",
    "test_Friedman": "prueba de Friedman",
    "test_Wilcoxon": "prueba de rangos con signo de Wilcoxon",
    "critical_difference": "diferencia crítica {n}",
    "mean_rank": "Puesto medio",
    "mean_error": "Error medio",
    "pairs_folded": "Todos los pares ({n})",
    "pairs_caption": "Pares de métodos",
    "pair": "Par",
    "difference": "Diferencia",
    "adjusted": "p ajustado",
    "differ": "Difieren",
    # ------------------------------------------------------------------------------ repeat
    "repeat_intro": "Con los mismos datos, versiones y semilla se obtienen los mismos números.",
    "copy": "Copiar",
    "copied": "Copiado",
    "seed": "Semilla",
    "created": "Fecha",
    "seconds_all": "Tiempo empleado",
    "parameters": "Parámetros",
    "method_parameters": "Parámetros de los métodos",
    # ---------------------------------------------------------------------------- glossary
    "term_feature": "Característica",
    "gloss_feature": "Una columna de la tabla que puede ayudar a predecir el objetivo.",
    "term_selection": "Selección",
    "gloss_selection": "Un subconjunto de características que se conserva para predecir.",
    "term_ranking": "Orden",
    "gloss_ranking": "Todas las características de mejor a peor, tal como las ve un método.",
    "term_judge": "Juez",
    "gloss_judge": (
        "La máquina que se entrena con las características seleccionadas y cuyos errores cuentan."
    ),
    "term_split": "Partición",
    "gloss_split": (
        "Una división de las filas en una parte de entrenamiento, de la que se aprende todo, y "
        "una de prueba, en la que se cuentan los errores."
    ),
    "term_honest": "Error honesto",
    "gloss_honest": (
        "El error en muestras que no intervinieron en nada: ni en el entrenamiento, ni en la "
        "selección de características, ni en la elección de su número."
    ),
    "term_apparent": "Error aparente",
    "gloss_apparent": (
        "El error que se obtiene si las características se seleccionan antes con todos los "
        "datos; parece mejor de lo que es."
    ),
    "term_bias": "Sesgo de selección",
    "gloss_bias": "Error honesto menos error aparente: cuánto halaga la estimación ingenua.",
    "term_interval": "Intervalo",
    "gloss_interval": (
        "Un rango que contiene el valor verdadero en la mayoría de las repeticiones, en 95 de "
        "100 si es del 95 %; cuanto más ancho, menos se sabe."
    ),
    "term_stability": "Estabilidad",
    "gloss_stability": "Cuánto concuerdan las selecciones hechas con muestras distintas.",
    "term_permutation": "Prueba de permutación",
    "gloss_permutation": (
        "Se repite todo el procedimiento con las etiquetas barajadas para ver qué alcanzaría el "
        "puro azar."
    ),
    "term_pvalue": "Valor p",
    "gloss_pvalue": (
        "Con qué frecuencia el puro azar daría un resultado al menos tan extremo; los valores "
        "pequeños hablan en contra del azar."
    ),
    "term_baseline": "Referencias",
    "gloss_baseline": (
        "Características en orden al azar, y todas las características: lo que una selección "
        "debe superar."
    ),
    "term_sensitivity": "Sensibilidad",
    "gloss_sensitivity": "La parte de los casos positivos que se reconoce.",
    "term_specificity": "Especificidad",
    "gloss_specificity": "La parte de los casos negativos que se reconoce como tal.",
    "term_roc": "Curva ROC",
    "gloss_roc": (
        "La parte de casos positivos encontrados frente a la parte de falsas alarmas, al mover "
        "el umbral."
    ),
    "term_rank": "Puesto medio",
    "gloss_rank": (
        "El lugar de un método entre los demás, promediado sobre los ensayos; 1 es el mejor."
    ),
    "term_leak": "Columna que delata el objetivo",
    "gloss_leak": (
        "Una columna que da el objetivo sin error, a menudo porque se anotó después que él."
    ),
}
